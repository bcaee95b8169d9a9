// A command line: words between NULs, as after `onehead trace`. It becomes a request or a line that says what
// is wrong with it.
#include "cli/options.hpp"

#include "target.hpp"

using namespace onehead;

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static auto const model = open_model(std::filesystem::path{ONEHEAD_SOURCE_DIR "/data/gpt2-mini"});
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    Arguments arguments;
    while (!rest.empty()) arguments.push_back(fuzz::take_part(rest));
    fuzz::works([&] {
        RunOptions run;
        Term step = terms::softmax;
        double tolerance = 0;
        Options options{"trace [options]", ""};
        options.add_word("TEXT", run.text, "the text");
        add_run_options(options, run);
        add_experiment_option(options, run);
        options.add("step", "S", step, "a step");
        options.add("atol", "X", tolerance, "a tolerance");
        if (!options.read(arguments) || run.text_file) return;  // it would open whatever file it names
        fuzz::promise(tolerance >= 0);
        Request const request = make_request(run, *model);
        fuzz::works([&] { fuzz::promise(!tokens_of(*model, request).empty()); });
    });
    return 0;
}
