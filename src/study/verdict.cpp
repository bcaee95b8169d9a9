// A comparison of two runs in words. A sentence that says less is better than one that is false of some
// pair: rows that do not sum to 1 are left out of it, and differences too small to print are no differences.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "study/compare_traces.hpp"

namespace onehead {
namespace {

constexpr double noticeable = 0.01;  // of a row

// How the rows of B stand to those of A.
struct Tally {
    std::size_t rows = 0;
    std::size_t comparable = 0;
    std::size_t sharper = 0;
    std::size_t flatter = 0;
    double mean_a = 0;  // effective rows, over those that are comparable
    double mean_b = 0;
};

Tally count(std::vector<RowDifference> const& pattern) {
    Tally tally{.rows = pattern.size()};
    for (RowDifference const& row : pattern) {
        if (!row.comparable()) continue;
        ++tally.comparable;
        double const wider = row.b.effective_rows - row.a.effective_rows;
        if (wider < -noticeable) ++tally.sharper;
        if (wider > noticeable) ++tally.flatter;
        tally.mean_a += row.a.effective_rows;
        tally.mean_b += row.b.effective_rows;
    }
    tally.mean_a /= static_cast<double>(tally.comparable);
    tally.mean_b /= static_cast<double>(tally.comparable);
    return tally;
}

// "1.5 rows on average instead of 3.1", with as many digits as it takes to tell the two apart.
std::string averages(Tally const& tally) {
    for (int digits = 1; digits <= 3; ++digits) {
        auto const a = fmt::format("{:.{}f}", tally.mean_a, digits);
        auto const b = fmt::format("{:.{}f}", tally.mean_b, digits);
        if (a != b) return fmt::format("{} rows on average instead of {}", b, a);
    }
    return fmt::format("{:.1f} rows on average in both", tally.mean_b);
}

std::string count_of(std::size_t count, std::size_t all) {
    return fmt::format("{} of {} row{}", count, all, all == 1 ? "" : "s");
}

std::string sharpness(Tally const& tally, std::string const& a, std::string const& b) {
    if (tally.sharper + tally.flatter == 0)
        return fmt::format("{} is as sharp as {} in {}, to {} rows: it reads {:.1f} rows on average", b, a,
                           count_of(tally.comparable, tally.rows), noticeable, tally.mean_b);
    std::string text = b + " is ";
    if (tally.sharper > 0) text += fmt::format("sharper in {}", count_of(tally.sharper, tally.rows));
    if (tally.sharper > 0 && tally.flatter > 0) text += fmt::format(" and flatter in {}", tally.flatter);
    if (tally.sharper == 0) text += fmt::format("flatter in {}", count_of(tally.flatter, tally.rows));
    return fmt::format("{}: it reads {}", text, averages(tally));
}

std::string about_pattern(Comparison const& c, Difference const& difference) {
    Tally const tally = count(c.pattern);
    if (tally.comparable == 0)
        return "the patterns are not comparable: in no row do the weights sum to 1 in both";
    std::string text = sharpness(tally, c.a, c.b);
    if (tally.comparable < tally.rows)
        text += fmt::format("; left out are {}, where the weights do not sum to 1 in both",
                            count_of(tally.rows - tally.comparable, tally.rows));
    return fmt::format("{}; a weight differs by up to {:.2g}", text, difference.largest);
}

std::string names(std::vector<Term> const& terms) {
    std::string list;
    for (Term const& term : terms) list += (list.empty() ? "" : ", ") + file_stem(term);
    return list;
}

std::vector<Term> different(std::vector<StepDifference> const& steps) {
    std::vector<Term> terms;
    for (auto const& [term, difference] : steps)
        if (!difference.same()) terms.push_back(term);
    return terms;
}

std::string about_steps(Comparison const& c) {
    auto const differing = different(c.steps);
    if (differing.empty()) return "every value that both have is bit-identical";
    auto const pattern = std::find_if(c.steps.begin(), c.steps.end(),
                                      [](auto const& step) { return step.term == terms::softmax; });
    if (pattern == c.steps.end())
        return fmt::format("the patterns are not comparable, as not both have one; different are {}",
                           names(differing));
    if (pattern->difference.same())
        return fmt::format("the patterns are bit-identical; different are {}", names(differing));
    return about_pattern(c, pattern->difference);
}

}  // namespace

std::string verdict(Comparison const& c) {
    if (c.same()) return fmt::format("{} and {} are the same: every value is bit-identical", c.a, c.b);
    std::string text = about_steps(c);
    if (!c.only_in_a.empty()) text += fmt::format("; only {} has {}", c.a, names(c.only_in_a));
    if (!c.only_in_b.empty()) text += fmt::format("; only {} has {}", c.b, names(c.only_in_b));
    return text;
}

}  // namespace onehead
