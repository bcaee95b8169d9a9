// onehead check: steps of a trace against what another implementation computed, by numpy.allclose's rule. 0
// passed, 1 failed, 2 trouble.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/study/check.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

namespace po = boost::program_options;

constexpr auto examples = R"(  onehead check cat pattern.npy --step softmax
  onehead check cat out.safetensors --step softmax --tensor 0.pattern --part 0
  onehead check cat out.safetensors --step q --tensor 0.c_attn --columns 0:64
)";

constexpr std::uint64_t largest_reference = std::uint64_t{1} << 28U;

Array read_tensor(std::filesystem::path const& file, std::string const& name) {
    if (name.empty())
        throw UsageError(fmt::format(
            "{}: expected --tensor NAME with it, found none; say which tensor is meant", file.string()));
    Safetensors const tensors{file};
    TensorInfo const& info = tensors.at(name);
    if (info.end - info.begin > largest_reference)
        throw Error(fmt::format("{}: tensor {}: expected at most {} bytes, as a step has, found {}",
                                file.string(), printable(name), largest_reference, info.end - info.begin));
    return {{info.shape.begin(), info.shape.end()}, tensors.read_doubles(name), info.dtype != "F64"};
}

// One part of the first dimension: a head of the heads.
Array part_of(Array const& all, std::size_t part) {
    if (all.shape.size() < 2 || part >= all.shape[0])
        throw UsageError(
            fmt::format("--part {}: the reference has {} parts", part, all.shape.empty() ? 0 : all.shape[0]));
    std::size_t const size = all.values.size() / all.shape[0];
    auto const begin = all.values.begin() + static_cast<std::ptrdiff_t>(part * size);
    return {{all.shape.begin() + 1, all.shape.end()},
            {begin, begin + static_cast<std::ptrdiff_t>(size)},
            all.is_float32};
}

// Columns first:last of the last dimension.
Array columns_of(Array const& all, std::string const& range) {
    std::size_t const colon = std::min(range.find(':'), range.size());
    std::size_t const first = parse_count("--columns", range.substr(0, colon));
    std::size_t const last = parse_count("--columns", colon < range.size() ? range.substr(colon + 1) : "");
    std::size_t const width = all.shape.empty() ? 0 : all.shape.back();
    if (first >= last || last > width)
        throw UsageError(fmt::format("--columns {}: the reference has columns 0:{}", range, width));
    Array cut{all.shape, {}, all.is_float32};
    cut.shape.back() = last - first;
    for (std::size_t start = 0; start < all.values.size(); start += width)
        cut.values.insert(cut.values.end(), all.values.begin() + static_cast<std::ptrdiff_t>(start + first),
                          all.values.begin() + static_cast<std::ptrdiff_t>(start + last));
    return cut;
}

Array read_reference(Given const& given) {
    std::filesystem::path const file = value(given, "reference");
    Array reference = file.extension() == ".npy" ? read_npy(file) : read_tensor(file, value(given, "tensor"));
    if (given.count("part") != 0) reference = part_of(reference, parse_count("--part", value(given, "part")));
    if (given.count("columns") != 0) reference = columns_of(reference, value(given, "columns"));
    return reference;
}

Options make_options() {
    Options options{"options"};
    auto add = options.add_options();
    auto const text = [] { return po::value<std::string>(); };
    add("trace", text()->value_name("TRACE"), "a trace folder");
    add("reference", text()->value_name("REFERENCE"), "a .npy file, or a .safetensors file with --tensor");
    add("step", text()->value_name("S")->default_value("softmax"), "the step that the reference is of");
    add("tensor", text()->value_name("NAME"), "the tensor in a .safetensors file");
    add("part", text()->value_name("P"), "take part P of the reference's first dimension, such as a head");
    add("columns", text()->value_name("A:B"), "take columns A to B - 1 of the reference");
    add("atol", text()->value_name("X"),
        "absolute tolerance (default: by step, layer and type; softmax 5e-6 against float64, 5e-5 against "
        "float32)");
    add("rtol", text()->value_name("X"), "relative tolerance");
    add("help", "this");
    return options;
}

}  // namespace

int run_check(Arguments const& arguments) {
    Options const options = make_options();
    if (shows_help(arguments, "check TRACE REFERENCE [options]", options, examples)) return 0;
    Given const given = parse(arguments, options, {"trace", "reference"});
    if (given.count("reference") == 0)
        throw UsageError("check: expected a trace folder and a reference; see onehead check --help");
    Trace const trace = read_trace(value(given, "trace"));
    Step const& step = trace.step(parse_step("--step", value(given, "step")));
    Array const reference = read_reference(given);
    Tolerance tolerance = default_tolerance(step.term, trace.facts.layer, reference.is_float32);
    if (given.count("atol") != 0) tolerance.absolute = parse_number("--atol", value(given, "atol"));
    if (given.count("rtol") != 0) tolerance.relative = parse_number("--rtol", value(given, "rtol"));
    Check const result = check(step, reference, tolerance);
    fmt::print("{}\n", verdict(result));
    return result.passed() ? 0 : 1;
}

}  // namespace onehead
