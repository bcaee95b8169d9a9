// onehead excerpt: cuts out of a model what the heads of one block need on one text, so that they can be
// traced without it.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/excerpt.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples =
    R"(  onehead excerpt --layer 3 --text "The cat sat on the mat" --out cat-3.safetensors
  onehead trace --model cat-3.safetensors --head 2
)";

}  // namespace

int run_excerpt(Arguments const& arguments) {
    Options options{"options"};
    add_text_options(options);
    auto add = options.add_options();
    add("layer", po::value<std::string>()->value_name("L"), "the block, from 0 (default: 0)");
    add("out", po::value<std::string>()->value_name("F"), "the file to write, F.safetensors");
    add("help", "this");
    if (shows_help(arguments, "excerpt --out F.safetensors [options]", options, examples)) return 0;
    Given const given = parse(arguments, options);
    if (given.count("out") == 0)
        throw UsageError("excerpt: expected --out F.safetensors, found none; say where to write");

    auto const model = open_model(given);
    Request const request = make_request(given, *model);
    std::string const bytes = make_excerpt(*model, request.layer, tokens_of(*model, request));
    write_file_in_place(value(given, "out"), bytes);
    fmt::print("{}: layer {} of {}, {} bytes\n", printable(value(given, "out")), request.layer, model->name(),
               bytes.size());
    return 0;
}

}  // namespace onehead
