// The vocabulary of a trace: one term for each intermediate result of a head, in the order in which they
// arise. All that is known about a step beside its numbers is in its entry here. The numbers are fixed; they
// begin the names of the files.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace onehead {

// The parts of a row's way through a head, which are the chapters of its story.
enum class Part { arrival, views, scoring, blending, addition };

// Which cells of a step another word may change. "First" is the first position whose token changed; words
// that were appended are positions that changed from nothing.
enum class Reach {
    nothing,
    appended_rows,
    changed_rows,
    rows_from_first,
    changed_rows_and_columns,
    changed_rows_and_columns_below,  // a column only in the rows that may read it
    rows_and_columns_from_first
};

struct Term {
    int number;
    std::string_view name;  // also the file's: 08_scores.csv
    std::string_view rows;  // axis names; "1" for a step that is the same for all rows
    std::string_view columns;
    std::string_view formula;  // in the words of this table
    std::string_view symbols;  // as mathematicians write it; the letters after a _ are an index
    std::string_view meaning;  // one sentence, for people
    Part part;
    Reach reach;  // at layer 0, where a row has seen no other row yet
    Reach reach_deeper;
    std::string_view transformer_lens;  // {} stands for the layer; empty where it has no such value
    std::string_view hugging_face;
    bool may_be_masked = false;  // -inf may be among its values
    bool is_raw = false;         // made of rows as they arrive: needs more than what LayerNorm leaves of them

    bool operator==(Term const& other) const { return number == other.number; }
};

namespace terms {

// clang-format off
inline constexpr Term token_embedding{
    .number = 1, .name = "token_embedding", .rows = "pos", .columns = "d_model",
    .formula = "wte[token_id]",
    .symbols = "t_i = wte[id_i]",
    .meaning = "what the model knows of the token, wherever it occurs",
    .part = Part::arrival, .reach = Reach::changed_rows, .reach_deeper = Reach::changed_rows,
    .transformer_lens = "hook_embed", .hugging_face = "wte rows",
    .is_raw = true};
inline constexpr Term position_embedding{
    .number = 2, .name = "position_embedding", .rows = "pos", .columns = "d_model",
    .formula = "wpe[pos]",
    .symbols = "p_i = wpe[i]",
    .meaning = "what the model knows of the position, whatever token is there",
    .part = Part::arrival, .reach = Reach::appended_rows, .reach_deeper = Reach::appended_rows,
    .transformer_lens = "hook_pos_embed", .hugging_face = "wpe rows",
    .is_raw = true};
inline constexpr Term residual{
    .number = 3, .name = "residual", .rows = "pos", .columns = "d_model",
    .formula = "token_embedding + position_embedding",
    .symbols = "r_i = t_i + p_i",
    .meaning = "the row as it arrives off the residual stream",
    .part = Part::arrival, .reach = Reach::changed_rows, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.hook_resid_pre", .hugging_face = "hidden_states[{}]",
    .is_raw = true};
inline constexpr Term normalized{
    .number = 4, .name = "normalized", .rows = "pos", .columns = "d_model",
    .formula = "(residual - mean) / sqrt(variance + epsilon) * gain + bias",
    .symbols = "x_i = (r_i − μ_i) / √(σ_i² + ε) · γ + β",
    .meaning = "the row as the head reads it: mean 0, standard deviation 1, then a learned gain and bias",
    .part = Part::arrival, .reach = Reach::changed_rows, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "output of blocks.{}.ln1, gain and bias included", .hugging_face = "h.{}.ln_1 output"};
inline constexpr Term q{
    .number = 5, .name = "q", .rows = "pos", .columns = "d_head",
    .formula = "normalized W_q + b_q",
    .symbols = "q_i = x_i W_q + b_q",
    .meaning = "the query: what the row is looking for",
    .part = Part::views, .reach = Reach::changed_rows, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_q", .hugging_face = "h.{}.attn.c_attn output, this head's columns of the first third"};
inline constexpr Term k{
    .number = 6, .name = "k", .rows = "pos", .columns = "d_head",
    .formula = "normalized W_k + b_k",
    .symbols = "k_j = x_j W_k + b_k",
    .meaning = "the key: what the row advertises to any row that looks at it",
    .part = Part::views, .reach = Reach::changed_rows, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_k", .hugging_face = "h.{}.attn.c_attn output, this head's columns of the second third"};
inline constexpr Term v{
    .number = 7, .name = "v", .rows = "pos", .columns = "d_head",
    .formula = "normalized W_v + b_v",
    .symbols = "v_j = x_j W_v + b_v",
    .meaning = "the value: what the row hands over if it gets picked",
    .part = Part::views, .reach = Reach::changed_rows, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_v", .hugging_face = "h.{}.attn.c_attn output, this head's columns of the last third"};
inline constexpr Term scores{
    .number = 8, .name = "scores", .rows = "query_pos", .columns = "key_pos",
    .formula = "sum over d of q[query_pos, d] * k[key_pos, d]",
    .symbols = "s_ij = Σ_d q_id k_jd",
    .meaning = "how strongly each row wants each row",
    .part = Part::scoring, .reach = Reach::changed_rows_and_columns, .reach_deeper = Reach::rows_and_columns_from_first,
    .transformer_lens = "", .hugging_face = ""};
inline constexpr Term scaled_scores{
    .number = 9, .name = "scaled_scores", .rows = "query_pos", .columns = "key_pos",
    .formula = "scores / sqrt(d_head)",
    .symbols = "s′_ij = s_ij / √d_head",
    .meaning = "the scores, no longer dependent on the width of the head",
    .part = Part::scoring, .reach = Reach::changed_rows_and_columns, .reach_deeper = Reach::rows_and_columns_from_first,
    .transformer_lens = "", .hugging_face = ""};
inline constexpr Term masked_scores{
    .number = 10, .name = "masked_scores", .rows = "query_pos", .columns = "key_pos",
    .formula = "scaled_scores where key_pos <= query_pos, -inf elsewhere",
    .symbols = "m_ij = s′_ij for j ≤ i, −∞ for j > i",
    .meaning = "the scores with everything later than the query set to -inf",
    .part = Part::scoring, .reach = Reach::changed_rows_and_columns_below, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_attn_scores", .hugging_face = "",
    .may_be_masked = true};
inline constexpr Term softmax{
    .number = 11, .name = "softmax", .rows = "query_pos", .columns = "key_pos",
    .formula = "exp(masked_scores - largest of the row) / sum of these over the row",
    .symbols = "a_ij = exp(m_ij) / Σ_j exp(m_ij)",
    .meaning = "the attention pattern: the weight that each row gives to each row",
    .part = Part::scoring, .reach = Reach::rows_from_first, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_pattern", .hugging_face = "attentions[{}][0, head]"};
inline constexpr Term blend{
    .number = 12, .name = "blend", .rows = "query_pos", .columns = "d_head",
    .formula = "sum over key_pos of softmax[query_pos, key_pos] * v[key_pos]",
    .symbols = "z_i = Σ_j a_ij v_j",
    .meaning = "the values of the rows that were read, each times its weight, added up",
    .part = Part::blending, .reach = Reach::rows_from_first, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_z", .hugging_face = "h.{}.attn.c_proj input, this head's columns"};
inline constexpr Term output_projection{
    .number = 13, .name = "output_projection", .rows = "query_pos", .columns = "d_model",
    .formula = "blend W_o",
    .symbols = "o_i = z_i W_o",
    .meaning = "the blend widened back to the full row: what this head alone adds, without the bias",
    .part = Part::addition, .reach = Reach::rows_from_first, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.attn.hook_result", .hugging_face = ""};
inline constexpr Term other_heads{
    .number = 14, .name = "other_heads", .rows = "query_pos", .columns = "d_model",
    .formula = "sum of the other heads' output_projection",
    .symbols = "h_i = Σ o_i of the other heads",
    .meaning = "what the other heads of the layer add to the same row",
    .part = Part::addition, .reach = Reach::rows_from_first, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "", .hugging_face = ""};
inline constexpr Term projection_bias{
    .number = 15, .name = "projection_bias", .rows = "1", .columns = "d_model",
    .formula = "b_o",
    .symbols = "b_o",
    .meaning = "added to every row once for the whole layer; it belongs to no head",
    .part = Part::addition, .reach = Reach::nothing, .reach_deeper = Reach::nothing,
    .transformer_lens = "blocks.{}.attn.b_O", .hugging_face = "h.{}.attn.c_proj.bias"};
inline constexpr Term residual_after{
    .number = 16, .name = "residual_after", .rows = "query_pos", .columns = "d_model",
    .formula = "residual + every head's output_projection, in head order + projection_bias",
    .symbols = "r′_i = r_i + o_i + h_i + b_o",
    .meaning = "the row as it leaves the attention: nothing overwritten, everything added",
    .part = Part::addition, .reach = Reach::rows_from_first, .reach_deeper = Reach::rows_from_first,
    .transformer_lens = "blocks.{}.hook_resid_mid", .hugging_face = "h.{}.ln_2 input",
    .is_raw = true};
// clang-format on

// In the order of their numbers, from 1.
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
