// A token as people and files see it: its id in the vocabulary, the bytes it stands for, and a label.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onehead/io/text.hpp"
#include "onehead/math/tensor.hpp"
#include "onehead/trace/terms.hpp"

namespace onehead {

struct Case;  // in attention/head.hpp

struct Token {
    int id = 0;
    std::string bytes{};    // need not be UTF-8: an emoji is several tokens; empty where nobody knows them
    bool has_twin = false;  // another token of its vocabulary has the same bytes
};

// Two tokens never share a label: ' cat'; '\#259' where nobody knows the bytes; ' cat\#259' where another
// token has the same.
std::string label(Token const& token);

// The token of that id whose label it is; nothing if it is none's.
std::optional<Token> token_of_label(int id, std::string_view shown);

using Tokens = std::vector<Token>;

std::string text_of(Tokens const& tokens);  // their bytes together

// What happened in one head on one text: the tokens, the facts about the run, and every step's result in
// order. Whoever writes, compares or studies a run needs this and no more.

struct Step {
    Term term;
    std::string formula;  // the term's own, unless this run computed it differently
    Matrix values;        // [term.rows, term.columns]
};

// Where a trace comes from, and what the pages about it need to know.
struct Facts {
    std::string model;
    std::string model_file;      // its folder's or file's name; empty in a trace that was read from files
    std::string weights_sha256;  // of all that this head uses, as float32
    std::size_t layer = 0;
    std::size_t head = 0;
    std::size_t n_layer = 0;
    std::size_t n_head = 0;
    std::size_t d_model = 0;
    std::size_t d_head = 0;
    double layer_norm_epsilon = 0;
    double divisor = 0;  // of the scores
    std::string text;
    std::size_t row = 0;          // the row whose point of view the pages take
    std::string experiment;       // empty: the head as GPT-2 computes it
    std::string experiment_says;  // what the experiment changes
    std::string left_out;         // which steps this trace lacks, and why
};

// Whether a step may hold this number: any that is finite, and -inf where a score is masked.
bool may_hold(Term const& term, float value);

class Trace {
public:
    Tokens tokens;
    Facts facts;

    // The head that made it, for pages that work its numbers out again. A trace that was read from files has
    // none.
    std::shared_ptr<Case const> made_by;

    // Appends a step and returns its values, which stay where they are. Throws an Error that names step, row
    // and column of a value that is not finite (-inf may stand in masked scores).
    Matrix const& add(Term const& term, Matrix values);

    // For a run that computes a step in another way than its term says. No effect on a step that is left out.
    void set_formula(Term const& term, std::string const& formula);

    std::deque<Step> const& steps() const { return steps_; }
    Step const* find(Term const& term) const;  // nullptr if this trace leaves it out
    Step const& step(Term const& term) const;  // throws a UsageError if this trace leaves it out
    Matrix const& operator[](Term const& term) const { return step(term).values; }

    // By which two traces can tell at a glance whether every number is the same: the first 16 hexadecimal
    // digits of the sha256 of all steps in order, each as "softmax 6 6\n" (name, rows, columns) and its
    // values, row after row, as little-endian float32. Computed when it is first asked for.
    std::string fingerprint() const;

private:
    struct Fingerprint {
        std::once_flag computed;
        std::string digits;
    };

    std::deque<Step> steps_;  // a deque never moves what it holds
    std::shared_ptr<Fingerprint> fingerprint_ =
        std::make_shared<Fingerprint>();  // of these steps; copies share it
};

// Throws std::invalid_argument unless each step has a row for each token; a step for all rows has one.
void expect_tokens(Trace const& trace);

// What a page calls the head of a run: "layer 0, head 0".
std::string head_name(Facts const& facts);

std::vector<int> token_ids(Trace const& trace);

// A token with its place: "4 ' the'".
std::string token_at(Trace const& trace, std::size_t pos);

}  // namespace onehead
