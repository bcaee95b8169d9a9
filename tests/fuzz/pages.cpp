// Hostile tokens in everything that is written: parts between NULs are the tokens' bytes. No file of a trace
// holds a control character but the line end, and the trace comes back from its files.
#include "onehead/pages/formats.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"
#include "support/matrices.hpp"
#include "support/random_case.hpp"
#include "target.hpp"

namespace {

using namespace onehead;

Trace trace_of_tokens(Tokens const& tokens) {
    Trace trace = test::trace_of(test::random_case(1, tokens.size()), tokens);
    trace.facts.text.clear();
    for (Token const& token : tokens) trace.facts.text += token.bytes;
    return trace;
}

void check_files(Trace const& trace) {
    std::vector<std::string> const names{"trace.txt"};
    for (Format const& format : formats()) {
        if (format.name == "npy") continue;
        for (OutputFile const& file : format.files(trace, names))
            file.give([](std::string_view bytes) { fuzz::promise(fuzz::is_plain(bytes, "\n")); });
    }
    fuzz::promise(fuzz::is_plain(text(trace_summary(trace)), "\n"));
    fuzz::promise(fuzz::is_plain(shaded_grid(trace, 80, Shading::blocks), "\n"));
}

void check_read_back(Trace const& trace) {
    auto const out = fuzz::folder().path() / "trace";
    write_trace(out, trace, find_formats("csv"));
    Trace const back = read_trace(out);
    fuzz::promise(back.facts.text == trace.facts.text);
    for (std::size_t pos = 0; pos < trace.tokens.size(); ++pos)
        fuzz::promise(back.tokens[pos].bytes == trace.tokens[pos].bytes);
    fuzz::promise(test::bits(back[terms::softmax]) == test::bits(trace[terms::softmax]));
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    Tokens tokens;
    while (!rest.empty() && tokens.size() < 8)
        if (auto part = fuzz::take_part(rest); !part.empty())
            tokens.push_back({static_cast<int>(tokens.size()), std::move(part)});
    if (tokens.empty()) return 0;
    Trace const trace = trace_of_tokens(tokens);
    check_files(trace);
    if (find_invalid_utf8(trace.facts.text) == std::string::npos) check_read_back(trace);
    return 0;
}
