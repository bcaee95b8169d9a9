// onehead excerpt: cuts out of a model what the heads of one block need on one text, so that they can be
// traced without it.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/excerpt.hpp"

namespace onehead {

namespace {

constexpr auto excerpt_examples = R"(
examples:
  onehead excerpt --layer 3 --text "The cat sat on the mat" --out cat-3.safetensors
  onehead trace --model cat-3.safetensors --head 2
)";

int run_excerpt(Arguments const& arguments) {
    RunOptions run;
    std::optional<std::string> out, ranges;
    Options options{"onehead excerpt --out F.safetensors [options]", excerpt_examples};
    add_text_options(options, run);
    options.add("layer", "L", run.layer, "the layer, from 0 (default: 0)");
    options.add("out", "F", out, "the file to write, F.safetensors");
    options.add(
        "ranges", "W", ranges,
        "write nothing, but print which bytes of model.safetensors the excerpt takes, one BEGIN END per "
        "line; W is the beginning of that file, at least its header");
    if (!options.read(arguments)) return 0;
    if (!out && !ranges)
        throw UsageError({.where = "excerpt",
                          .expected = "--out F.safetensors",
                          .found = "none",
                          .advice = "say where to write"});

    auto const model = open_model(run);
    Request const request = make_request(run, *model);
    std::vector<int> const ids = tokens_of(*model, request);
    if (ranges) {
        File const weights(*ranges);
        for (ByteRange const& range : excerpt_ranges(read_header_alone(weights), request.layer, ids))
            fmt::print("{} {}\n", range.begin, range.end);
        return 0;
    }
    std::string const bytes = make_excerpt(*model, request.layer, ids);
    write_file_in_place(*out, bytes);
    fmt::print("{}: layer {} of {}, {} bytes\n", printable(*out), request.layer, model->name(), bytes.size());
    return 0;
}

}  // namespace

Subcommand const excerpt_command{"excerpt", "write a small file with everything one layer needs for one text",
                                 run_excerpt};

}  // namespace onehead
