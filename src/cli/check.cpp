// onehead check: steps of a trace against what another implementation computed, by numpy.allclose's rule. 0
// passed, 1 failed, 2 trouble.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "onehead/error.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto examples = R"(
examples:
  onehead check cat pattern.npy --step softmax
  onehead check cat out.safetensors --step softmax --tensor 0.pattern --part 0
  onehead check cat out.safetensors --step q --tensor 0.c_attn --columns 0:64
)";

// Which numbers of which file.
struct Reference {
    std::string file;
    std::optional<std::string> tensor;
    std::optional<std::size_t> part;
    std::optional<Columns> columns;
};

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
    return {{info.shape.begin(), info.shape.end()}, tensors.read_doubles(name), info.dtype};
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
            all.dtype};
}

Array columns_of(Array const& all, Columns const& columns) {
    std::size_t const width = all.shape.empty() ? 0 : all.shape.back();
    auto const [first, last] = columns;
    if (last > width)
        throw UsageError({.where = "--columns",
                          .expected = fmt::format("columns within 0:{}, as the reference has", width),
                          .found = fmt::format("{}:{}", first, last)});
    Array cut{all.shape, {}, all.dtype};
    cut.shape.back() = last - first;
    for (std::size_t start = 0; start < all.values.size(); start += width)
        cut.values.insert(cut.values.end(), all.values.begin() + static_cast<std::ptrdiff_t>(start + first),
                          all.values.begin() + static_cast<std::ptrdiff_t>(start + last));
    return cut;
}

Array read_file(Reference const& from) {
    std::filesystem::path const file = from.file;
    if (file.extension() == ".npy") return read_npy(file);
    if (file.extension() == ".npz" || file.extension() == ".csv" || file.extension() == ".pt")
        throw UsageError({.where = file.string(),
                          .expected = "a .npy or a .safetensors file",
                          .found = file.extension().string(),
                          .advice = "save the array by itself with numpy.save"});
    return read_tensor(file, from.tensor.value_or(""));
}

// A batch of one in front does not count, and of an array with a part for each head the trace's own is meant.
Array read_reference(Reference const& from, Facts const& facts) {
    Array reference = read_file(from);
    while (reference.shape.size() > 3 && reference.shape.front() == 1)
        reference.shape.erase(reference.shape.begin());
    bool const has_heads =
        reference.shape.size() == 3 && reference.shape.front() == facts.n_head && facts.n_head > 1;
    if (from.part)
        reference = part_of(reference, *from.part);
    else if (has_heads)
        reference = part_of(reference, facts.head);
    if (from.columns) reference = columns_of(reference, *from.columns);
    return reference;
}

int run(Arguments const& arguments) {
    std::string folder;
    Reference from;
    Term term = terms::softmax;
    std::optional<double> absolute, relative;
    Options options{"onehead check TRACE REFERENCE [options]", examples};
    options.add_word("TRACE", folder, "a trace folder");
    options.add_word("REFERENCE", from.file, "a .npy file, or a .safetensors file with --tensor");
    options.add("step", "S", term, "the step that the reference is of (default: softmax)");
    options.add("tensor", "NAME", from.tensor, "the tensor in a .safetensors file");
    options.add("part", "P", from.part, "take part P of the reference's first dimension, such as a head");
    options.add("columns", "A:B", from.columns, "take columns A to B - 1 of the reference");
    options.add(
        "atol", "X", absolute,
        "absolute tolerance (default: by step, layer and type; softmax 5e-6 against float64, 5e-5 against "
        "float32)");
    options.add("rtol", "X", relative, "relative tolerance");
    if (!options.read(arguments)) return 0;

    Trace const trace = read_trace(folder);
    Step const& step = trace.step(term);
    Array const reference = read_reference(from, trace.facts);
    Tolerance tolerance = default_tolerance(step.term, trace.facts.layer, reference.dtype != "F64");
    tolerance = stored_as(tolerance, reference.dtype);
    tolerance = {absolute.value_or(tolerance.absolute), relative.value_or(tolerance.relative)};
    Check const result = check(step, reference, tolerance);
    fmt::print("{}\n", verdict(result));
    return result.passed() ? 0 : 1;
}

}  // namespace

Subcommand const check_command{"check", "hold a trace against what another implementation computed", run, 2};

}  // namespace onehead
