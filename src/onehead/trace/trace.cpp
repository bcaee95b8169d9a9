#include "onehead/trace/trace.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"

namespace onehead {

bool may_hold(Term const& term, float value) {
    bool const is_masked = term.may_be_masked && value == -std::numeric_limits<float>::infinity();
    return std::isfinite(value) || is_masked;
}

namespace {

// Stands before the closing quote. No label of bytes ends like this: a backslash is doubled there.
std::string id_mark(int id) {
    return fmt::format("\\#{}'", id);
}

}  // namespace

std::string label(Token const& token) {
    std::string shown = label(std::string_view{token.bytes});
    if (!token.bytes.empty() && !token.has_twin) return shown;
    shown.pop_back();
    return shown + id_mark(token.id);
}

std::string text_of(Tokens const& tokens) {
    std::string text;
    for (Token const& token : tokens) text += token.bytes;
    return text;
}

std::optional<Token> token_of_label(int id, std::string_view shown) {
    bool const has_id = shown.ends_with(id_mark(id));
    if (has_id) shown.remove_suffix(id_mark(id).size());
    auto bytes = bytes_of_label(has_id ? std::string{shown} + '\'' : std::string{shown});
    if (!bytes || (bytes->empty() && !has_id)) return std::nullopt;
    Token token{.id = id, .bytes = std::move(*bytes)};
    token.has_twin = has_id && !token.bytes.empty();
    return token;
}

namespace {

void expect_numbers(Step const& step) {
    std::span const values{step.values.data(), step.values.size()};
    auto const bad = std::ranges::find_if(values, [&](float value) { return !may_hold(step.term, value); });
    if (bad == values.end()) return;
    auto const at = static_cast<std::size_t>(bad - values.begin());
    throw Error({.where = fmt::format("step {}: row {}, column {}", file_stem(step.term),
                                      at / column_count(step.values), at % column_count(step.values)),
                 .expected = "a finite number",
                 .found = fmt::format("{}, and nothing was written", *bad),
                 .advice = "are the weights of this model damaged?"});
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
    throw UsageError({.where = "step " + file_stem(term),
                      .expected = "a trace that has it",
                      .found = "one without: " +
                               (facts.left_out.empty() ? "only layer 0 has embeddings" : facts.left_out)});
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

void expect_tokens(Trace const& trace) {
    for (Step const& step : trace.steps())
        if (std::size_t const rows = row_count(step.values);
            rows != trace.tokens.size() && (step.term.rows != "1" || rows != 1))
            throw std::invalid_argument(
                fmt::format("tokens: expected one for each of {} rows of {}, found {}", rows,
                            file_stem(step.term), trace.tokens.size()));
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
    return fmt::format("{} {}", pos, label(trace.tokens.at(pos)));
}

}  // namespace onehead
