// merges.txt, NUL, vocab.json, NUL, a text. A vocabulary that is accepted brings every text back that it can
// encode.
#include "onehead/model/tokenizer.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    fuzz::folder().write("merges.txt", fuzz::take_part(rest));
    fuzz::folder().write("vocab.json", fuzz::take_part(rest));
    fuzz::works([&] {
        Tokenizer const tokenizer(fuzz::folder().path());
        for (int id = 0; id < tokenizer.size(); ++id) tokenizer.bytes(id);
        std::string const text{rest};
        fuzz::works([&] { fuzz::promise(tokenizer.decode(tokenizer.encode(text)) == text); });
    });
    return 0;
}
