// A small head with random weights on random rows: d_model 12, 3 heads of width 4. Tests that hold for any
// weights need no model. The same seed gives the same numbers everywhere.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "onehead/attention/experiments.hpp"
#include "onehead/attention/gpt2.hpp"
#include "onehead/trace/trace.hpp"

namespace onehead::test {

inline constexpr std::size_t d_model = 12;
inline constexpr std::size_t n_head = 3;
inline constexpr std::size_t this_head = 1;

class Random {
public:
    explicit Random(unsigned seed) : bits_(seed) {}

    float operator()() { return static_cast<float>(bits_()) / 2147483648.0F - 1; }  // from -1 to 1

    std::size_t below(std::size_t limit) { return bits_() % limit; }

    Matrix matrix(std::size_t rows, std::size_t columns) {
        Matrix m = make_matrix(rows, columns);
        for (float& value : m) value = (*this)();
        return m;
    }

    Vector vector(std::size_t size) {
        Vector v = Vector::from_shape({size});
        for (float& value : v) value = (*this)();
        return v;
    }

private:
    std::mt19937 bits_;
};

inline AttentionWeights random_attention(unsigned seed) {
    Random random{seed};
    return {.n_head = n_head,
            .ln_1 = {random.vector(d_model), random.vector(d_model), 1e-5},
            .c_attn = random.matrix(d_model, 3 * d_model),
            .c_attn_bias = random.vector(3 * d_model),
            .c_proj = random.matrix(d_model, d_model),
            .c_proj_bias = random.vector(d_model)};
}

// Row pos depends on pos alone, not on how many rows there are.
inline Matrix random_rows(unsigned seed, std::size_t n_seq) {
    return Random{seed}.matrix(n_seq, d_model);
}

// At layer 0, the row that arrives is the sum of two embeddings.
inline Case case_of(Matrix token_embedding, unsigned seed = 1) {
    Matrix position_embedding = random_rows(seed + 1000, row_count(token_embedding));
    Matrix residual = token_embedding;
    for (std::size_t at = 0; at < residual.size(); ++at) residual.data()[at] += position_embedding.data()[at];
    Case c = make_case(std::move(residual), random_attention(seed), this_head);
    c.token_embedding = std::move(token_embedding);
    c.position_embedding = std::move(position_embedding);
    return c;
}

inline Case random_case(unsigned seed = 1, std::size_t n_seq = 5) {
    return case_of(random_rows(seed + 2000, n_seq), seed);
}

// A deeper head has no embeddings.
inline Case deeper_case(unsigned seed = 1, std::size_t n_seq = 5) {
    return make_case(random_rows(seed + 2000, n_seq), random_attention(seed), this_head);
}

// Tokens whose labels need escapes and whose fields need quotes.
inline Tokens awkward_tokens(std::size_t n_seq) {
    Tokens const tokens{{464, "The"}, {11, ","},    {1, "\""},
                        {198, "\n"},  {4535, "NA"}, {47249, "\xF0\x9F\x98"}};
    Tokens result;
    for (std::size_t pos = 0; pos < n_seq; ++pos) result.push_back(tokens[pos % tokens.size()]);
    return result;
}

inline Trace trace_of(Case const& c, Tokens tokens, std::size_t layer = 0) {
    Trace trace = trace_head(c, std::move(tokens));
    trace.facts.model = "random";
    trace.facts.weights_sha256 = "none";
    trace.facts.layer = layer;
    trace.facts.head = c.head;
    trace.facts.n_layer = layer + 1;
    trace.facts.n_head = n_head;
    trace.facts.d_model = d_model;
    trace.facts.d_head = column_count(c.w_q);
    trace.facts.layer_norm_epsilon = c.ln_1.epsilon;
    trace.facts.divisor = c.divisor;
    trace.facts.text = "The,\"";
    return trace;
}

inline Trace trace_of(Case const& c, std::size_t layer = 0) {
    return trace_of(c, awkward_tokens(row_count(c.residual)), layer);
}

inline Case with_experiment(Case c, std::string_view name) {
    find_experiment(name).apply(c);
    return c;
}

// An experiment's run knows its name.
inline Trace trace_of_experiment(Case const& changed, std::string_view name, std::size_t layer = 0) {
    Trace trace = trace_of(changed, layer);
    trace.facts.experiment = name;
    return trace;
}

}  // namespace onehead::test
