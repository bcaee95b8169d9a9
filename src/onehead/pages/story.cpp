#include "onehead/pages/story.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "onehead/attention/head.hpp"
#include "onehead/io/text.hpp"
#include "onehead/pages/picture.hpp"
#include "onehead/study/statistics.hpp"

namespace onehead {

namespace {

using Row = std::span<float const>;

Row asked(Trace const& trace, Term const& term) {
    return row(trace[term], trace.facts.row);
}

Label asking_row(Trace const& trace) {
    return token(trace, trace.facts.row);
}

std::string capitalized(std::string_view text) {
    std::string sentence{text};
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    return sentence;
}

// ---------------------------------------------------------------------------------------------------------
// The page: an introduction, a chapter for each part of the way, the symbols.

// What tells of the row that the page follows. A script may follow another one, so these parts are told for
// every row that it can follow.
RowPart title_part(Trace const& trace) {
    return {"title", {{Heading{1, say("How row {} reads", asking_row(trace)), ""}}}};
}

RowPart facts_part(Trace const& trace) {
    return {"facts", {{run_facts(trace)}}};
}

RowPart introduction_part(Trace const& trace, std::vector<std::string> const& files) {
    bool const has_tables =
        std::any_of(files.begin(), files.end(), [](auto const& name) { return name.ends_with(".csv"); });
    return {"introduction",
            {{Paragraph{
                 say("The text is cut into tokens, and the model keeps a row of {} numbers for each. An "
                     "attention head lets every row read itself and the rows before it. This page follows "
                     "one of them: row {} asks, the keys of the other rows answer, and it takes home a "
                     "weighted sum of their values. All rows do the same at the same time, each for itself.",
                     trace.facts.d_model, asking_row(trace)),
                 false}},
             {Paragraph{
                 say("Numbers here are rounded; the CSVs {} hold full precision. The line \"08 scores\" is "
                     "row {} of {}.",
                     has_tables ? "beside this page" : "that --out writes", trace.facts.row,
                     Code{"08_scores.csv"}),
                 true}}}};
}

void introduce(Document& page, Trace const& trace, std::vector<std::string> const& files) {
    page.add(title_part(trace));
    page.add(sentence(trace));
    page.add(facts_part(trace));
    page.add(Fold{"The tokens", {{token_table(trace)}}});
    page.add(introduction_part(trace, files));
    page.add(Panel{"controls"});
    page.aside(say("Fingerprint of all numbers: {}. Where it is the same, every number is, to the last bit.",
                   Code{trace.fingerprint(), "fingerprint"}));
}

// "08_scores.csv": those of the files that are there.
Inline files_of(Step const& step, std::vector<std::string> const& files) {
    std::vector<Inline> links;
    for (std::string const& file : files)
        if (file.starts_with(file_stem(step.term))) links.push_back(Link{file, file});
    return links.empty() ? Inline{file_stem(step.term) + ".csv"} : joined(links);
}

// One step of a chapter: what it is, its formula, where all of it is, and its picture.
Section tell_step(Trace const& trace, Step const& step, std::vector<std::string> const& files) {
    Term const& term = step.term;
    Section section{file_stem(term), {}};
    auto const add = [&](auto block) { section.blocks.push_back({std::move(block)}); };
    add(Heading{3, step_name(term), ""});
    add(Paragraph{capitalized(term.meaning) + ".", false});
    add(Formula{step.formula == term.formula ? std::string{term.symbols} : "", step.formula});
    add(Paragraph{say("[{}, {}] = [{}, {}], in {}{}", std::string{term.rows}, std::string{term.columns},
                      row_count(step.values), column_count(step.values), files_of(step, files),
                      pairs_positions(term) ? ": rows = query (reads), columns = key (is read)" : ""),
                  true});
    if (pairs_positions(term))
        add(Drawing{[&] { return score_picture(trace, step); }});
    else
        add(Fold{"All numbers", {{Drawing{[&] { return vector_picture(trace, step); }}}}});
    return section;
}

Table numbers_of(Trace const& trace, Chapter const& chapter) {
    Term const& first = chapter.steps.front();
    if (first == terms::scores) return score_table(trace, trace.facts.row, chapter.steps);
    if (first == terms::blend) return blend_table(trace);
    if (first == terms::output_projection) return addition_table(trace);
    return vector_table(trace, chapter.steps);
}

RowPart chapter_part(Trace const& trace, Chapter const& chapter, std::size_t number) {
    RowPart part{fmt::format("chapter-{}", number), {}};
    for (Inline const& text : chapter.before) part.blocks.push_back({Paragraph{text, false}});
    part.blocks.push_back({numbers_of(trace, chapter)});
    for (Inline const& text : chapter.after) part.blocks.push_back({Paragraph{text, false}});
    return part;
}

// What there is to play with in a chapter; see panels.js.
std::vector<std::string_view> panels_of(Chapter const& chapter) {
    Term const& first = chapter.steps.front();
    if (first == terms::scores) return {"worked", "gaps", "divisor", "mask"};
    if (first == terms::blend) return {"mixer"};
    return {};
}

void tell(Document& page, Trace const& trace, Chapter const& chapter, std::size_t number,
          std::vector<std::string> const& files) {
    page.chapter(fmt::format("{}. {}", number, chapter.title));
    page.add(chapter_part(trace, chapter, number));
    if (chapter.steps.front() == terms::scores)
        if (Block pattern = pattern_grid(trace); std::holds_alternative<Table>(pattern.content))
            page.blocks.push_back(std::move(pattern));  // else it is the picture of its step, below
    for (std::string_view const panel : panels_of(chapter)) page.add(Panel{panel});
    for (Term const& term : chapter.steps) page.add(tell_step(trace, trace.step(term), files));
}

void tell_symbols(Document& page, Trace const& trace) {
    page.chapter("The symbols");
    page.paragraph(
        "i is the position of a row that reads (query_pos), j of one that is read (key_pos), d a component "
        "of a vector. r is the row, x the normalized row, s the scores, a the attention pattern, z the "
        "blend.");
    FactList list;
    for (auto const& [name, meaning] : explain_symbols(trace))
        list.facts.push_back({Code{std::string{name}}, meaning});
    page.add(list);
}

}  // namespace

Document trace_story(Trace const& trace, std::vector<std::string> const& files) {
    Document page{fmt::format("How row {} reads: {} of {}", token_at(trace, trace.facts.row),
                              head_name(trace.facts), trace.facts.model)};
    page.has_contents = true;
    introduce(page, trace, files);
    std::size_t number = 0;
    for (Chapter const& chapter : chapters(trace)) tell(page, trace, chapter, ++number, files);
    tell_symbols(page, trace);
    return page;
}

Contents row_parts(Trace const& trace, std::vector<std::string> const& files) {
    Contents parts{{title_part(trace)}, {facts_part(trace)}, {introduction_part(trace, files)}};
    std::size_t number = 0;
    for (Chapter const& chapter : chapters(trace)) parts.push_back({chapter_part(trace, chapter, ++number)});
    return parts;
}

Document trace_summary(Trace const& trace) {
    Document page;
    page.add(run_facts(trace));
    std::vector<Term> steps;
    for (Step const& step : trace.steps())
        if (pairs_positions(step.term)) steps.push_back(step.term);
    page.add(score_table(trace, trace.facts.row, steps));
    page.paragraph(pattern_sentence(trace, trace.facts.row));
    page.paragraph(say("Fingerprint of all numbers: {}", Code{trace.fingerprint()}));
    return page;
}

// ---------------------------------------------------------------------------------------------------------
// The chapters

bool is_changed(Trace const& trace, Step const& step) {
    return !trace.facts.experiment.empty() && !(step.term == terms::residual) &&
           step.formula != step.term.formula;
}

namespace {

// A chapter about those of the steps that the trace has. What an experiment changes in them is said before
// the numbers.
Chapter chapter(Trace const& trace, std::string title, Part part, std::vector<Inline> before,
                std::vector<Inline> after = {}) {
    Chapter result{std::move(title), {}, std::move(before), std::move(after)};
    std::vector<Inline> changes;
    for (Step const& step : trace.steps()) {
        if (step.term.part != part) continue;
        result.steps.push_back(step.term);
        if (is_changed(trace, step)) changes.push_back(say("{} = {}", file_stem(step.term), step.formula));
    }
    if (!changes.empty())
        result.before.push_back(
            say("That is how GPT-2 does it. This run is the experiment \"{}\", and differs "
                "here: {}.",
                trace.facts.experiment, joined(changes, "; ")));
    return result;
}

Inline where_it_comes_from(Trace const& trace) {
    std::size_t const layer = trace.facts.layer;
    Label const word = token_label(trace.tokens[trace.facts.row].bytes);
    if (trace.find(terms::token_embedding) != nullptr)
        return say(
            "Row {0} begins as the sum of two learned vectors: what the model knows of the token {1}, "
            "wherever it is in the text, and what it knows of position {0}, whatever token is there.",
            trace.facts.row, word);
    if (trace.find(terms::residual) != nullptr && layer > 0)
        return say(
            "The row comes off the residual stream, where {} before this one {} written into it. It began as "
            "{}; by now it also holds what was read from the rows before it.",
            layer == 1 ? "the layer" : fmt::format("the {} layers", layer), layer == 1 ? "has" : "have",
            word);
    return "The row itself is not in this trace; it begins with the row as the head reads it.";
}

Inline how_it_is_normalized(Trace const& trace) {
    std::string const figures =
        trace.find(terms::residual) == nullptr
            ? ""
            : fmt::format(" (here {} and {})", component(mean(asked(trace, terms::residual))),
                          component(standard_deviation(asked(trace, terms::residual))));
    return say(
        "Before the head reads it, the row is normalized: its mean is subtracted, the result is divided by "
        "the standard deviation{}, and each of the {} components is multiplied by a learned gain and gets a "
        "learned bias. The head never sees the raw row.",
        figures, trace.facts.d_model);
}

Chapter arrival(Trace const& trace) {
    return chapter(trace, "The row arrives", Part::arrival,
                   {where_it_comes_from(trace), how_it_is_normalized(trace)});
}

Chapter views(Trace const& trace) {
    return chapter(trace, "It becomes a query, a key and a value", Part::views,
                   {say("The head reads the normalized row three times, each time through a learned matrix "
                        "of its own, {} by {}, with a bias. Three short vectors of {} numbers come out. The "
                        "query is what the row is looking for, the key is what it advertises to every row "
                        "that looks at it, the value is what it hands over if it gets picked. Row {} asks "
                        "with its query; its key and its value are there for the rows that ask it.",
                        trace.facts.d_model, trace.facts.d_head, trace.facts.d_head, asking_row(trace))});
}

Chapter scoring(Trace const& trace) {
    return chapter(trace, "It scores every row, and the scores become weights", Part::scoring,
                   {how_it_scores(trace), how_it_divides(trace), how_it_masks(trace), how_it_weighs()},
                   {pattern_sentence(trace, trace.facts.row)});
}

Chapter blending(Trace const& trace) {
    Row const weights = asked(trace, terms::softmax);
    auto const read = static_cast<std::size_t>(
        std::count_if(weights.begin(), weights.end(), [](float w) { return w != 0; }));
    if (read == 0)
        return chapter(trace, "It takes home a blend", Part::blending,
                       {"No row has any weight here, so the blend is 0 in every component."});
    return chapter(
        trace, "It takes home a blend", Part::blending,
        {say("{}, multiplied by the weight that row {} gave {}. The sum is the blend.",
             read == 1
                 ? fmt::format("One row hands over its value, {} numbers", trace.facts.d_head)
                 : fmt::format("{} rows hand over their values, {} numbers each", read, trace.facts.d_head),
             trace.facts.row, read == 1 ? "it" : "them")});
}

std::string norms(Trace const& trace) {
    if (trace.find(terms::residual) == nullptr) return "";
    auto const norm_of = [&](Term const& term) { return score(norm(asked(trace, term))); };
    return fmt::format(
        " The row has a norm of {} when it arrives; this head adds a vector of norm {}, {}and the row that "
        "leaves has {} (norms of vectors, so they do not add up).",
        norm_of(terms::residual), norm_of(terms::output_projection),
        trace.facts.n_head == 1 ? "" : fmt::format("the others one of {}, ", norm_of(terms::other_heads)),
        norm_of(terms::residual_after));
}

Chapter addition(Trace const& trace) {
    return chapter(trace, "The result is added to the row", Part::addition,
                   {say("A last learned matrix, {} by {}, widens the blend to a full row: what this head "
                        "adds to row {}. {} the layer adds one bias, and all of it is added to the row that "
                        "arrived. Nothing is overwritten.{}",
                        trace.facts.d_head, trace.facts.d_model, asking_row(trace),
                        trace.facts.n_head == 1   ? "The layer has no other head;"
                        : trace.facts.n_head == 2 ? "The other head of the layer adds its own output,"
                                                  : fmt::format("The other {} heads of the layer add theirs,",
                                                                trace.facts.n_head - 1),
                        norms(trace))});
}

}  // namespace

std::vector<Chapter> chapters(Trace const& trace) {
    return {arrival(trace), views(trace), scoring(trace), blending(trace), addition(trace)};
}

// ---------------------------------------------------------------------------------------------------------
// Sentences about a row of scores and weights. What is said of a key is looked up in the trace.

namespace {

std::size_t place_of(Row::iterator found, Row values) {
    return static_cast<std::size_t>(std::distance(values.begin(), found));
}

// The largest weight that a softmax over these scores gives.
double largest_weight(Row scores) {
    Matrix one = make_matrix(1, scores.size());
    std::copy(scores.begin(), scores.end(), one.begin());
    Matrix const weights = softmax(one);
    return *std::max_element(weights.begin(), weights.end());
}

// What row `row` would call a row that it reads.
Inline called(Trace const& trace, std::size_t key, std::size_t row) {
    return key == row ? Inline{"itself"} : say("row {}", token(trace, key));
}

// The next few after the favourite, if they get a twentieth or more.
Inline who_else(Trace const& trace, std::size_t row, std::size_t favourite) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    std::vector<std::size_t> others;
    for (std::size_t key = 0; key < weights.size(); ++key)
        if (key != favourite && weights[key] >= 0.05) others.push_back(key);
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    Inline line;
    for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 3); ++i)
        line += say("{}{} {}", i == 0 ? ", then to " : ", ", called(trace, others[i], row),
                    weight(weights[others[i]]));
    return line;
}

}  // namespace

Inline how_it_scores(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    Row const seen = onehead::row(trace[terms::scores], row).first(row + 1);
    Inline const how =
        say("Row {} takes the dot product of its query with every key, its own too: one score per row, the "
            "sum of {} products. It says how strongly row {} wants that row.",
            token(trace, row), trace.facts.d_head, row);
    if (row == 0) return how;
    auto const best = std::max_element(seen.begin(), seen.end());
    auto const worst = std::min_element(seen.begin(), seen.end());
    return how + say(" Of the rows that it can read, row {} scores highest ({}) and row {} lowest ({}).",
                     token(trace, place_of(best, seen)), score(*best), token(trace, place_of(worst, seen)),
                     score(*worst));
}

Inline how_it_divides(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    Inline const how =
        say("A sum of {0} products easily grows large, and softmax is exponential. So every score is divided "
            "by the square root of {0}, which is {1}.",
            trace.facts.d_head, fmt::format("{:.4g}", std::sqrt(static_cast<double>(trace.facts.d_head))));
    if (row == 0 || !trace.facts.experiment.empty()) return how;
    std::string const scaled = weight(describe_pattern_row(asked(trace, terms::softmax)).largest);
    std::string const unscaled =
        weight(largest_weight(onehead::row(trace[terms::scores], row).first(row + 1)));
    if (scaled == unscaled)
        return how +
               say(" In this row it hardly shows: unscaled, the largest weight would be {} too.", unscaled);
    return how +
           say(" Unscaled, the largest weight of this row would be {} instead of {}.", unscaled, scaled);
}

Inline how_it_masks(Trace const& trace) {
    std::size_t const row = trace.facts.row;
    std::size_t const later = trace.tokens.size() - 1 - row;
    Inline const rule = "The causal mask lets a row attend to itself and to earlier rows. ";
    if (later == 0) return rule + "This is the last row: nothing comes later, so nothing is masked.";
    Row const scores = onehead::row(trace[terms::scores], row);
    auto const best = std::max_element(scores.begin() + static_cast<std::ptrdiff_t>(row) + 1, scores.end());
    Label const highest = token(trace, place_of(best, scores));
    if (later == 1)
        return rule + say("One row comes later: {}, score {}. Its score becomes -inf, however high it was.",
                          highest, score(*best));
    return rule +
           say("{} rows come later; the highest score among them is {}, of row {}. Each of their scores "
               "becomes -inf, however high it was.",
               later, score(*best), highest);
}

Inline how_it_weighs() {
    return "Softmax turns the scores into weights: e to the power of each score, divided by the sum of these "
           "powers over the row. e to the power of -inf is 0, so a masked row gets exactly no weight.";
}

Inline pattern_sentence(Trace const& trace, std::size_t row) {
    Row const weights = onehead::row(trace[terms::softmax], row);
    PatternRow const seen = describe_pattern_row(weights);
    double const total = sum(weights);
    if (total == 0)
        return say("Row {} gives no weight to any row: all its weights are 0.", token(trace, row));
    Inline const most =
        say("Row {} gives most weight to {}: {}{}.", token(trace, row), called(trace, seen.favourite, row),
            weight(seen.largest), who_else(trace, row, seen.favourite));
    if (std::fabs(total - 1) > 1e-5)
        return most + say(" Its weights add up to {} and not to 1.", fixed(total, 6));
    Inline const sink = seen.favourite == 0 && row > 0 && seen.largest > 0.5
                            ? " In many heads the first token is an attention sink: it takes the weight that "
                              "has no better use."
                            : "";
    return most +
           say(" Its weights add up to {}; in effect it reads {} row{} (the exponential of the weights' "
               "entropy).",
               fixed(total, 6), effective_rows(seen.effective_rows),
               effective_rows(seen.effective_rows) == "1.0" ? "" : "s") +
           sink;
}

// ---------------------------------------------------------------------------------------------------------
// Tables

namespace {

constexpr std::size_t shown_numbers = 6;  // of a vector
constexpr std::size_t most_keys = 16;     // of a row of scores
constexpr std::size_t most_tokens = 24;
constexpr std::size_t most_in_a_table = 16;  // rows of a pattern

// At most this much of a text, cut between two characters.
std::string shown_text(std::string const& text) {
    constexpr std::size_t most = 300;
    if (text.size() <= most) return label(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return fmt::format("{} ... {} bytes more", label(text.substr(0, end)), text.size() - end);
}

// Row `row` of a step; the single row of one that has no positions.
Row row_of(Step const& step, std::size_t row) {
    return onehead::row(step.values, row_count(step.values) == 1 ? 0 : row);
}

// Columns for the first numbers of vectors, the widest of which has so many.
void add_number_columns(Table& table, std::size_t width) {
    for (std::size_t d = 0; d < std::min(width, shown_numbers); ++d)
        table.columns.emplace_back(Inline{fmt::format("d{}", d)}, Align::right);
    if (width > shown_numbers) table.columns.emplace_back("");
}

void add_numbers(std::vector<TableCell>& cells, Row values) {
    for (float const value : values.first(std::min(shown_numbers, values.size())))
        cells.emplace_back(component(value), "", fmt::format("{}", value));
    if (values.size() > shown_numbers)
        cells.emplace_back(fmt::format("... {} more", values.size() - shown_numbers));
}

}  // namespace

std::string step_name(Term const& term) {
    return fmt::format("{:02} {}", term.number, term.name);
}

FactList run_facts(Trace const& trace) {
    Facts const& facts = trace.facts;
    FactList list;
    list.facts = {
        {"text", say("{} ({})", Label{"", shown_text(facts.text)}, counted(trace.tokens.size(), "token"))},
        {"model", say("{} ({} per layer, d_model {}, d_head {})", facts.model, counted(facts.n_head, "head"),
                      facts.d_model, facts.d_head)},
        {"head", head_name(facts)},
        {"row", token(trace, facts.row)},
        {"run", facts.experiment.empty()
                    ? Inline{"as GPT-2 computes it"}
                    : say("experiment {}: {}", Code{facts.experiment}, facts.experiment_says)}};
    if (!facts.left_out.empty()) list.facts.push_back({"note", facts.left_out});
    return list;
}

Table token_table(Trace const& trace) {
    std::size_t const n = trace.tokens.size();
    Window const shown = window_around(trace.facts.row, n, most_tokens);
    Table table;
    table.columns = {{"pos", Align::right}, {"token_id", Align::right}, {"token"}};
    for (std::size_t pos = shown.first; pos < shown.end; ++pos)
        table.rows.push_back({{pos},
                              {static_cast<std::size_t>(trace.tokens[pos].id)},
                              {token_label(trace.tokens[pos].bytes)}});
    table.marked = trace.facts.row - shown.first;
    if (shown.size() < n)
        table.after =
            say("... the {} tokens around the row, of {}; {} has all", shown.size(), n, Code{"tokens.csv"});
    return table;
}

Table vector_table(Trace const& trace, std::span<Term const> steps) {
    Table table;
    table.columns = {{"step"}};
    std::size_t widest = 0;
    for (Term const& term : steps) {
        Step const* const step = trace.find(term);
        if (step == nullptr) continue;
        widest = std::max(widest, column_count(step->values));
        std::vector<TableCell> cells{{step_name(term)}};
        add_numbers(cells, row_of(*step, trace.facts.row));
        table.rows.push_back(std::move(cells));
    }
    add_number_columns(table, widest);
    return table;
}

std::vector<std::size_t> shown_keys(Trace const& trace, std::size_t row) {
    std::vector<std::size_t> keys(trace.tokens.size());
    std::iota(keys.begin(), keys.end(), 0);
    if (keys.size() <= most_keys) return keys;
    auto const weights = onehead::row(trace[terms::softmax], row);
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    keys.resize(most_keys);
    std::sort(keys.begin(), keys.end());
    return keys;
}

Table score_table(Trace const& trace, std::size_t row, std::span<Term const> steps) {
    auto const keys = shown_keys(trace, row);
    Table table;
    table.columns = {{"key"}};
    for (std::size_t const key : keys) table.columns.emplace_back(token(trace, key), Align::right);
    for (Term const& term : steps) {
        std::vector<TableCell> cells{{step_name(term)}};
        for (std::size_t const key : keys) {
            float const value = trace[term](row, key);
            cells.emplace_back(number_of(term, value), "", fmt::format("{}", value));
        }
        table.rows.push_back(std::move(cells));
    }
    if (keys.size() < trace.tokens.size())
        table.after = say("... {} more keys: the table shows the {} that this row reads most",
                          trace.tokens.size() - keys.size(), keys.size());
    return table;
}

namespace {

// "4 ' the'" as a token.
Label as_label(std::string const& at) {
    std::size_t const space = at.find(' ');
    return {at.substr(0, space), at.substr(space + 1)};
}

}  // namespace

Block grid(Picture picture) {
    std::size_t const n = picture.row_labels.size();
    if (n > most_in_a_table) return {std::move(picture)};
    Table table;
    table.caption = picture.title;
    table.after = picture.below;
    table.columns = {{""}};
    for (std::string const& key : picture.column_labels)
        table.columns.emplace_back(as_label(key), Align::right);
    for (std::size_t query = 0; query < n; ++query) {
        std::vector<TableCell> cells{{as_label(picture.row_labels[query])}};
        for (std::size_t key = 0; key < n; ++key) {
            float const value = picture.values(query, key);
            cells.emplace_back(picture.number(value),
                               picture.masked[query * n + key] ? "m" : picture.scale.name(value),
                               fmt::format("{}", value));
        }
        table.rows.push_back(std::move(cells));
    }
    table.marked = picture.framed_row;
    table.is_grid = true;
    table.scale = picture.scale;
    return {table};
}

Block pattern_grid(Trace const& trace) {
    return grid(pattern_picture(trace));
}

Table blend_table(Trace const& trace) {
    Table table;
    table.columns = {{"weight", Align::right}, {"times the value of"}};
    add_number_columns(table, column_count(trace[terms::v]));
    Row const weights = asked(trace, terms::softmax);
    std::size_t shown = 0;
    for (std::size_t const key : shown_keys(trace, trace.facts.row)) {
        if (weights[key] == 0) continue;
        ++shown;
        std::vector<TableCell> cells{{weight(weights[key]), "", fmt::format("{}", weights[key])},
                                     {token(trace, key)}};
        add_numbers(cells, row(trace[terms::v], key));
        table.rows.push_back(std::move(cells));
    }
    auto const read = static_cast<std::size_t>(
        std::count_if(weights.begin(), weights.end(), [](float w) { return w != 0; }));
    if (read > shown) table.rows.push_back({{"..."}, {fmt::format("{} more rows", read - shown)}});
    std::vector<TableCell> cells{{"sum"}, {"= " + step_name(terms::blend)}};
    add_numbers(cells, asked(trace, terms::blend));
    table.rows.push_back(std::move(cells));
    return table;
}

Table addition_table(Trace const& trace) {
    Table table;
    table.columns = {{""}, {"step"}};
    std::vector<std::pair<std::string, Term>> const parts{{"", terms::residual},
                                                          {"+", terms::output_projection},
                                                          {"+", terms::other_heads},
                                                          {"+", terms::projection_bias},
                                                          {"=", terms::residual_after}};
    for (auto const& [sign, term] : parts) {
        Step const* const step = trace.find(term);
        if (step == nullptr) continue;
        std::vector<TableCell> cells{{sign}, {step_name(term)}};
        add_numbers(cells, row_of(*step, trace.facts.row));
        table.rows.push_back(std::move(cells));
    }
    add_number_columns(table, trace.facts.d_model);
    return table;
}

// ---------------------------------------------------------------------------------------------------------
// The text itself

namespace {

constexpr std::size_t most_words = 200;  // positions

// Bytes as they appear in a sentence: their label without the quotes, and without the escapes that only those
// need.
std::string in_a_sentence(std::string_view bytes) {
    std::string const quoted = label(bytes);
    std::string text;
    for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
        bool const is_escape = quoted[at] == '\\' && (quoted[at + 1] == '\'' || quoted[at + 1] == '\\');
        text += quoted[is_escape ? ++at : at];
    }
    return text;
}

// The end of the tokens from `first` on that make whole characters together: most are one, an emoji takes
// several.
std::size_t end_of_word(Tokens const& tokens, std::size_t first) {
    constexpr std::size_t most = 4;  // bytes of a character
    std::string bytes;
    for (std::size_t end = first; end < tokens.size() && end - first < most;) {
        bytes += tokens[end++].bytes;
        if (find_invalid_utf8(bytes) == std::string_view::npos) return end;
    }
    return first + 1;
}

Sentence::Word word(Trace const& trace, std::size_t first, std::size_t end) {
    std::size_t const row = trace.facts.row;
    Sentence::Word word;
    std::string bytes;
    for (std::size_t pos = first; pos < end; ++pos) {
        bytes += trace.tokens[pos].bytes;
        float const value = trace[terms::softmax](row, pos);
        word.weight += static_cast<double>(value);
        word.exact += fmt::format("{}{}: {}", word.exact.empty() ? "" : ", ", token_at(trace, pos), value);
    }
    word.text = in_a_sentence(bytes);
    word.first = first;
    word.end = end;
    word.asks = first <= row && row < end;
    word.is_later = first > row && word.weight == 0;
    return word;
}

}  // namespace

Sentence sentence(Trace const& trace) {
    Window const shown = window_around(trace.facts.row, trace.tokens.size(), most_words);
    Sentence sentence;
    for (std::size_t pos = shown.first; pos < shown.end;) {
        std::size_t const end = end_of_word(trace.tokens, pos);
        sentence.words.push_back(word(trace, pos, end));
        pos = end;
    }
    sentence.cut_before = shown.first > 0;
    sentence.cut_after = shown.end < trace.tokens.size();
    sentence.below =
        "The stronger the blue of a word, the more weight the framed row gives it. Words in grey come "
        "later: they are masked.";
    return sentence;
}

// ---------------------------------------------------------------------------------------------------------
// The symbols

namespace {

bool is_used(Trace const& trace, std::string_view name) {
    return std::any_of(trace.steps().begin(), trace.steps().end(), [&](Step const& step) {
        return step.formula.find(name) != std::string::npos || step.term.rows == name ||
               step.term.columns == name;
    });
}

}  // namespace

std::vector<Symbol> explain_symbols(Trace const& trace) {
    Facts const& facts = trace.facts;
    std::vector<Symbol> all{
        {"pos", "a position in the text, from 0, and the row there"},
        {"query_pos", "the position of a row that reads"},
        {"key_pos", "the position of a row that is read"},
        {"d_model", fmt::format("the width of a row of the model: {}", facts.d_model)},
        {"d_head", fmt::format("the width of a query, a key and a value: {}", facts.d_head)},
        {"wte", "a learned vector for each token of the vocabulary"},
        {"wpe", "a learned vector for each position"},
        {"mean", "the mean of the numbers of a row"},
        {"variance", "the mean of the squared deviations from the mean"},
        {"epsilon", fmt::format("keeps the root from being 0: {}", facts.layer_norm_epsilon)},
        {"gain", "gain and bias: learned, one number each for every component of a row"},
        {"W_q", "W_q, W_k, W_v: learned, [d_model, d_head], this head's own"},
        {"b_q", "b_q, b_k, b_v: learned, [d_head], added to every row"},
        {"W_o", "learned, [d_head, d_model], this head's own"},
        {"b_o", "learned, [d_model], the layer's"},
        {"sum over d", "over the d_head components of a query and a key"},
        {"sqrt", "the square root"},
        {"exp", "e = 2.71828... to the power of"},
        {"-inf", "minus infinity: less than any score"},
        {"MLP", "the other half of a block, which works on each row alone"}};
    std::erase_if(all, [&](Symbol const& symbol) { return !is_used(trace, symbol.name); });
    return all;
}

}  // namespace onehead
