#include "onehead/trace/trace.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"

namespace onehead {

namespace {

void expect_numbers(Step const& step) {
    bool const may_be_masked = step.term == terms::masked_scores;
    auto const acceptable = [&](float value) {
        return std::isfinite(value) || (may_be_masked && value == -std::numeric_limits<float>::infinity());
    };
    auto const* const begin = step.values.data();
    auto const* const end = begin + step.values.size();
    auto const* const bad = std::find_if_not(begin, end, acceptable);
    if (bad == end) return;
    auto const at = static_cast<std::size_t>(bad - begin);
    throw Error(fmt::format(
        "step {}: row {}, column {} is {}, expected a finite number; nothing was written. "
        "Are the weights of this model damaged?",
        file_stem(step.term), at / column_count(step.values), at % column_count(step.values), *bad));
}

}  // namespace

Matrix const& Trace::add(Term const& term, Matrix values) {
    steps_.push_back({term, std::string{term.formula}, std::move(values)});
    expect_numbers(steps_.back());
    fingerprint_ = std::make_shared<Fingerprint>();
    return steps_.back().values;
}

void Trace::set_formula(Term const& term, std::string const& formula) {
    for (Step& step : steps_)
        if (step.term == term) step.formula = formula;
}

Step const* Trace::find(Term const& term) const {
    auto const found =
        std::find_if(steps_.begin(), steps_.end(), [&](Step const& s) { return s.term == term; });
    return found == steps_.end() ? nullptr : &*found;
}

Step const& Trace::step(Term const& term) const {
    if (auto const* found = find(term)) return *found;
    throw Error(fmt::format("this trace has no step {}: {}", file_stem(term),
                            facts.left_out.empty() ? "only layer 0 has embeddings" : facts.left_out));
}

std::string Trace::fingerprint() const {
    static_assert(std::endian::native == std::endian::little, "the values are hashed as they are in memory");
    std::call_once(fingerprint_->computed, [this] {
        Sha256 hash;
        for (auto const& [term, formula, values] : steps_) {
            auto const head = fmt::format("{} {} {}\n", term.name, row_count(values), column_count(values));
            hash.add(std::as_bytes(std::span(head)));
            hash.add(std::as_bytes(std::span(values.data(), values.size())));
        }
        fingerprint_->digits = hash.hex().substr(0, 16);
    });
    return fingerprint_->digits;
}

std::string head_name(Facts const& facts) {
    return fmt::format("layer {}, head {}", facts.layer, facts.head);
}

std::vector<int> token_ids(Trace const& trace) {
    std::vector<int> ids;
    for (Token const& token : trace.tokens) ids.push_back(token.id);
    return ids;
}

std::string token_at(Trace const& trace, std::size_t pos) {
    return fmt::format("{} {}", pos, label(trace.tokens.at(pos).bytes));
}

}  // namespace onehead
