// onehead check: steps of a trace against what another implementation computed, by numpy.allclose's rule. 0
// passed, 1 failed, 2 trouble.

#include <fmt/format.h>
#include <algorithm>

#include "cli/command.hpp"
#include "onehead/attention/experiments.hpp"
#include "onehead/error.hpp"
#include "onehead/io/npy.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/run.hpp"
#include "onehead/study/compare.hpp"
#include "onehead/trace/files.hpp"

namespace onehead {

namespace {

constexpr auto check_examples = R"(
examples:
  onehead check cat pattern.npy --step softmax
  onehead check cat cache.safetensors             every tensor with a known name, step by step
  onehead check cat out.safetensors --step softmax --tensor 0.pattern --part 0
  onehead check cat out.safetensors --step q --tensor 0.c_attn --columns 0:64
)";

// What is asked: which numbers of which file, how close they have to be, and whose experiments to try.
struct Question {
    std::string file;
    std::optional<std::string> tensor;
    std::optional<std::size_t> part;
    std::optional<Columns> columns;
    std::optional<double> absolute, relative;
    std::optional<std::string> model;
};

constexpr std::uint64_t largest_reference = std::uint64_t{1} << 28U;

Array read_tensor(Safetensors const& tensors, std::string const& name) {
    TensorInfo const& info = tensors.at(name);
    if (info.end - info.begin > largest_reference)
        throw Error(fmt::format("{}: tensor {}: expected at most {} bytes, as a step has, found {}",
                                tensors.name(), printable(name), largest_reference, info.end - info.begin));
    return {{info.shape.begin(), info.shape.end()}, tensors.read_doubles(name), info.dtype};
}

// "0.pattern" for "blocks.0.attn.hook_pattern", "0.c_attn" for "h.0.attn.c_attn": what people shorten them
// to.
std::string shortened(std::string const& name, std::string const& layer) {
    std::string last = name.substr(name.rfind('.') + 1);
    if (last.starts_with("hook_")) last.erase(0, 5);
    return layer + "." + last;
}

// The name under which a file has a step: ours, TransformerLens' or Hugging Face's, in full or shortened.
// Empty if it has none.
std::string known_name(Safetensors const& tensors, Term const& term, std::size_t layer) {
    std::string const l = std::to_string(layer);
    std::string const name{term.name};
    std::vector<std::string> elsewhere;
    std::string const transformer_lens = in_layer(term.transformer_lens, l);
    if (transformer_lens.find(' ') == std::string::npos) elsewhere.push_back(transformer_lens);
    // "attentions[0][0, head]", "h.0.ln_1 output"; a module's name in a file stands for its output, not its
    // input.
    std::string hugging_face = in_layer(term.hugging_face, l);
    bool const is_input = hugging_face.find(" input") != std::string::npos;
    bool const counts_layers = hugging_face.find('[') != std::string::npos;
    hugging_face.resize(std::min(hugging_face.find_first_of(" ["), hugging_face.size()));
    if (!is_input) elsewhere.push_back(counts_layers ? hugging_face + "." + l : hugging_face);
    std::vector<std::string> known{file_stem(term), name, l + "." + name};
    known.insert(known.end(), elsewhere.begin(), elsewhere.end());
    for (std::string const& one : elsewhere)
        if (one.find("." + l + ".") != std::string::npos) known.push_back(shortened(one, l));
    auto const there = std::ranges::find_if(
        known, [&](std::string const& one) { return !one.empty() && tensors.find(one) != nullptr; });
    return there == known.end() ? "" : *there;
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

// What of an array belongs to the trace's own head. A batch of one in front does not count. The heads come
// first where positions are paired; else between the positions and the width, as in TransformerLens, or side
// by side, queries, keys and values of all heads in one row, as c_attn gives them.
Array own_part(Array reference, Step const& step, Question const& from, Facts const& facts) {
    while (reference.shape.size() > (pairs_positions(step.term) ? 3U : 2U) && reference.shape.front() == 1)
        reference.shape.erase(reference.shape.begin());
    std::size_t const width = column_count(step.values);
    std::size_t const first = facts.head * width;
    bool const is_row_wise = !pairs_positions(step.term) && !from.part && !from.columns;
    auto& shape = reference.shape;
    if (from.part) {
        reference = part_of(reference, *from.part);
    } else if (is_row_wise && shape.size() == 3 && shape[1] == facts.n_head && shape[2] == width) {
        shape = {shape[0], facts.n_head * width};
        reference = columns_of(reference, {first, first + width});
    } else if (shape.size() == 3 && shape.front() == facts.n_head && facts.n_head > 1) {
        reference = part_of(reference, facts.head);
    } else if (is_row_wise && step.term.columns == "d_head" && !shape.empty()) {
        bool const is_q_k_or_v = step.term.number <= terms::v.number;
        std::size_t const third =
            static_cast<std::size_t>(step.term.number - terms::q.number) * facts.d_model;
        if (is_q_k_or_v && shape.back() == 3 * facts.d_model)
            reference = columns_of(reference, {third + first, third + first + width});
        else if (shape.back() == facts.d_model && width < facts.d_model)
            reference = columns_of(reference, {first, first + width});
    }
    if (from.columns) reference = columns_of(reference, *from.columns);
    return reference;
}

// Which experiment of the same run computes what the reference holds: what is wrong with it, in a sentence.
std::string diagnosis(Trace const& trace, Step const& step, Array const& reference,
                      Tolerance const& tolerance, std::optional<std::string> const& model_name) try {
    std::string const& own = trace.facts.experiment;
    std::filesystem::path const name = model_name.value_or(trace.facts.model);
    if (!model_name && name.has_parent_path()) return "";  // a trace names no files
    auto const model = open_model(name);
    Request request;
    request.token_ids = token_ids(trace);
    request.layer = trace.facts.layer;
    request.head = trace.facts.head;
    Run const run = prepare(*model, request);
    if (run.facts.weights_sha256 != trace.facts.weights_sha256) return "";
    std::string found;
    auto const agrees = [&](std::string const& experiment) {
        try {
            Trace const changed = onehead::trace(run, experiment);
            Step const* const other = changed.find(step.term);
            return other != nullptr && check(*other, reference, tolerance).passed();
        } catch (std::exception const&) {
            return false;  // not possible with this model
        }
    };
    if (!own.empty() && agrees(""))
        return "The reference agrees with the head as GPT-2 computes it, within tolerance.\n";
    for (Experiment const& experiment : experiments())
        if (experiment.name != own && agrees(std::string{experiment.name}))
            found += fmt::format("The reference agrees with `{}` within tolerance: it {}.\n", experiment.name,
                                 experiment.changes);
    return found.empty() ? "The reference agrees with none of the experiments of this run.\n" : found;
} catch (std::exception const& error) {
    return fmt::format("The experiments of this run were not tried: {}\n", error.what());
}

// Says how a step stands to the reference.
bool passes(Trace const& trace, Step const& step, Array const& whole, Question const& asked) {
    Array const reference = own_part(whole, step, asked, trace.facts);
    Tolerance tolerance = default_tolerance(step.term, trace.facts.layer, reference.dtype != "F64");
    tolerance = stored_as(tolerance, reference.dtype);
    tolerance = {asked.absolute.value_or(tolerance.absolute), asked.relative.value_or(tolerance.relative)};
    Check const result = check(step, reference, tolerance);
    fmt::print("{}\n", verdict(result));
    if (!result.passed()) fmt::print("{}", diagnosis(trace, step, reference, tolerance, asked.model));
    return result.passed();
}

// Every step (or the one that is asked for) whose name the file has, up to the first that differs.
bool known_tensors_pass(Trace const& trace, Safetensors const& tensors, std::optional<Term> const& term,
                        Question const& asked) {
    std::size_t agree = 0;
    for (Step const& step : trace.steps()) {
        std::string const name = known_name(tensors, step.term, trace.facts.layer);
        if (name.empty() || (term && !(step.term == *term))) continue;
        if (!passes(trace, step, read_tensor(tensors, name), asked)) {
            fmt::print("{} ({}) is the first step that differs; steps before it that agree: {}.\n",
                       file_stem(step.term), printable(name), agree);
            return false;
        }
        ++agree;
    }
    if (agree == 0)
        throw UsageError({.where = tensors.name(),
                          .expected = "--tensor NAME with it, or tensors with names that are known",
                          .found = "none",
                          .advice = "say which tensor is meant; onehead terms lists the names"});
    return true;
}

int run_check(Arguments const& arguments) {
    std::string folder;
    Question asked;
    std::optional<Term> term;
    Options options{"onehead check TRACE REFERENCE [options]", check_examples};
    options.add_word("TRACE", folder, "a trace folder");
    options.add_word("REFERENCE", asked.file, "a .npy or a .safetensors file");
    options.add(
        "step", "S", term,
        "the step that the reference is of (default: softmax; of a .safetensors file, each step whose "
        "name it has)");
    options.add("tensor", "NAME", asked.tensor, "the tensor in a .safetensors file");
    options.add("part", "P", asked.part, "take part P of the reference's first dimension, such as a head");
    options.add("columns", "A:B", asked.columns, "take columns A to B - 1 of the reference");
    options.add("atol", "X", asked.absolute,
                "absolute tolerance (default: by step, layer and type; softmax 5e-6 against float64, 5e-5 "
                "against float32)");
    options.add("rtol", "X", asked.relative, "relative tolerance");
    options.add("model", "M", asked.model,
                "the trace's model, to try its experiments if the check fails (default: the one the trace "
                "names)");
    if (!options.read(arguments)) return 0;

    Trace const trace = read_trace(folder);
    auto const one_passes = [&](Array const& reference) {
        return passes(trace, trace.step(term.value_or(terms::softmax)), reference, asked);
    };
    std::filesystem::path const file = asked.file;
    std::string const type = file.extension();
    if (type == ".npy") return one_passes(read_npy(file)) ? 0 : 1;
    if (type == ".npz" || type == ".csv" || type == ".pt")
        throw UsageError({.where = file.string(),
                          .expected = "a .npy or a .safetensors file",
                          .found = type,
                          .advice = "save the array by itself with numpy.save"});
    Safetensors const tensors{file};
    if (asked.tensor) return one_passes(read_tensor(tensors, *asked.tensor)) ? 0 : 1;
    return known_tensors_pass(trace, tensors, term, asked) ? 0 : 1;
}

}  // namespace

Subcommand const check_command{"check", "compare a trace with the values of another implementation",
                               run_check, 2};

}  // namespace onehead
