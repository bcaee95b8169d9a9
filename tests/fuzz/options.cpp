// A command line: words between NULs, as after `onehead trace`. It becomes a request or a line that says what
// is wrong with it.
#include "cli/options.hpp"

#include "target.hpp"

namespace {

using namespace onehead;

Options const& trace_options() {
    static Options const options = [] {
        Options all{"options"};
        add_run_options(all);
        add_experiment_option(all);
        return all;
    }();
    return options;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static auto const model = open_model(std::filesystem::path{ONEHEAD_SOURCE_DIR "/data/gpt2-mini"});
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    Arguments arguments;
    while (!rest.empty()) arguments.push_back(fuzz::take_part(rest));
    fuzz::works([&] {
        Given const given = parse(arguments, trace_options(), {"text"});
        if (given.count("text-file") != 0) return;  // it would open whatever file it names
        Request const request = make_request(given, *model);
        fuzz::works([&] { fuzz::promise(!tokens_of(*model, request).empty()); });
        fuzz::works([&] { parse_step("--step", value(given, "text")); });
        fuzz::works([&] { fuzz::promise(parse_number("--atol", value(given, "head")) >= 0); });
    });
    return 0;
}
