// The vocabulary of a trace: one term for each intermediate result of a head, in the order in which they
// arise. The numbers are fixed; they begin the names of the files.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace onehead {

struct Term {
    int number;
    std::string_view name;  // also the file's: 08_scores.csv
    std::string_view rows;  // axis names
    std::string_view columns;
    std::string_view formula;           // in the words of this table
    std::string_view meaning;           // one sentence, for people
    std::string_view transformer_lens;  // {} stands for the layer; empty where it has no such value
    std::string_view hugging_face;

    bool operator==(Term const& other) const { return number == other.number; }
};

namespace terms {

// clang-format off
inline constexpr Term token_embedding{
    1, "token_embedding", "pos", "d_model",
    "wte[token_id]",
    "what the vocabulary knows of the token, wherever it stands",
    "hook_embed", "wte rows"};
inline constexpr Term position_embedding{
    2, "position_embedding", "pos", "d_model",
    "wpe[pos]",
    "what the model knows of the position, whatever stands there",
    "hook_pos_embed", "wpe rows"};
inline constexpr Term residual{
    3, "residual", "pos", "d_model",
    "token_embedding + position_embedding",
    "the row as it arrives off the residual stream",
    "blocks.{}.hook_resid_pre", "hidden_states[{}]"};
inline constexpr Term normalized{
    4, "normalized", "pos", "d_model",
    "(residual - mean) / sqrt(variance + epsilon) * gain + bias",
    "the row as the head reads it: mean 0, spread 1, then a learned gain and bias",
    "output of blocks.{}.ln1, gain and bias included", "h.{}.ln_1 output"};
inline constexpr Term q{
    5, "q", "pos", "d_head",
    "normalized W_q + b_q",
    "the query: what the row is looking for",
    "blocks.{}.attn.hook_q", "h.{}.attn.c_attn output, this head's columns of the first third"};
inline constexpr Term k{
    6, "k", "pos", "d_head",
    "normalized W_k + b_k",
    "the key: what the row advertises to any row that looks at it",
    "blocks.{}.attn.hook_k", "h.{}.attn.c_attn output, this head's columns of the second third"};
inline constexpr Term v{
    7, "v", "pos", "d_head",
    "normalized W_v + b_v",
    "the value: what the row hands over if it gets picked",
    "blocks.{}.attn.hook_v", "h.{}.attn.c_attn output, this head's columns of the last third"};
inline constexpr Term scores{
    8, "scores", "query_pos", "key_pos",
    "sum over d of q[query_pos, d] * k[key_pos, d]",
    "how strongly each row wants each row",
    "", ""};
inline constexpr Term scaled_scores{
    9, "scaled_scores", "query_pos", "key_pos",
    "scores / sqrt(d_head)",
    "the scores, freed from the width of the head",
    "", ""};
inline constexpr Term masked_scores{
    10, "masked_scores", "query_pos", "key_pos",
    "scaled_scores where key_pos <= query_pos, -inf elsewhere",
    "the scores with everything later than the query erased",
    "blocks.{}.attn.hook_attn_scores", ""};
inline constexpr Term softmax{
    11, "softmax", "query_pos", "key_pos",
    "exp(masked_scores - largest of the row) / sum of these over the row",
    "the attention pattern: the share of its attention that each row gives to each row",
    "blocks.{}.attn.hook_pattern", "attentions[{}][0, head]"};
inline constexpr Term blend{
    12, "blend", "query_pos", "d_head",
    "sum over key_pos of softmax[query_pos, key_pos] * v[key_pos]",
    "the values of the rows that were looked at, mixed in those shares",
    "blocks.{}.attn.hook_z", "h.{}.attn.c_proj input, this head's columns"};
inline constexpr Term output_projection{
    13, "output_projection", "query_pos", "d_model",
    "blend W_o",
    "the blend widened back to the full row: what this head alone adds, without the bias",
    "blocks.{}.attn.hook_result", ""};
inline constexpr Term other_heads{
    14, "other_heads", "query_pos", "d_model",
    "sum of the other heads' output_projection",
    "what the other heads of the block add to the same row",
    "", ""};
inline constexpr Term projection_bias{
    15, "projection_bias", "1", "d_model",
    "b_o",
    "added to every row once for the whole block; it belongs to no head",
    "blocks.{}.attn.b_O", "h.{}.attn.c_proj.bias"};
inline constexpr Term residual_after{
    16, "residual_after", "query_pos", "d_model",
    "residual + every head's output_projection, in head order + projection_bias",
    "the row as it leaves the attention: nothing overwritten, everything added",
    "blocks.{}.hook_resid_mid", "h.{}.ln_2 input"};
// clang-format on

inline constexpr std::array all{token_embedding,
                                position_embedding,
                                residual,
                                normalized,
                                q,
                                k,
                                v,
                                scores,
                                scaled_scores,
                                masked_scores,
                                softmax,
                                blend,
                                output_projection,
                                other_heads,
                                projection_bias,
                                residual_after};

}  // namespace terms

// The term of that name; nullptr if there is none.
Term const* find_term(std::string_view name);

std::string file_stem(Term const& term);  // "08_scores"

// A name from elsewhere with its layer filled in: "blocks.0.hook_resid_pre".
std::string in_layer(std::string_view name, std::string_view layer);

// Whether rows and columns are both positions, so that a cell says how one token reads another.
inline bool pairs_positions(Term const& term) {
    return term.columns == "key_pos";
}

}  // namespace onehead
