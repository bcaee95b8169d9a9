// The tables of a trace, for three known tokens: tokens.csv, NUL, 11_softmax.csv, NUL,
// 15_projection_bias.csv. What is accepted is written again byte for byte, but for the line ends and for how
// a number is spelled.
#include "onehead/trace/files.hpp"

#include "target.hpp"

namespace {

using namespace onehead;

void read_step(Term const& term, Tokens const& tokens, std::size_t rows, std::string const& bytes) {
    fuzz::works([&] {
        Matrix const values = parse_step_csv(bytes, "a.csv", term, tokens, rows, 3);
        std::string written;
        write_step_csv({term, "", values}, tokens, [&](std::string_view piece) { written += piece; });
        fuzz::promise(parse_step_csv(written, "b.csv", term, tokens, rows, 3) == values);
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static Tokens const tokens{{11, ","}, {1, "\""}, {198, "\n"}};
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    auto const table = fuzz::take_part(rest);
    fuzz::works([&] {
        Tokens const read = parse_tokens_csv(std::string{table}, "tokens.csv", {11, 1, 198});
        fuzz::promise(read.size() == 3 && read[0].id == 11 && read[2].id == 198);
    });
    read_step(terms::softmax, tokens, 3, fuzz::take_part(rest));
    read_step(terms::projection_bias, tokens, 1, std::string{rest});
    return 0;
}
