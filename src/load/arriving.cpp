#include "load/arriving.hpp"

namespace onehead {

Matrix first_rows(Embedding const& embedding) {
    Matrix rows = embedding.token;  // [pos, d_model]
    for (std::size_t at = 0; at < rows.size(); ++at) rows.data()[at] += embedding.position.data()[at];
    return rows;
}

Matrix first_rows(Model const& model, std::vector<int> const& ids) {
    return first_rows(model.embed(ids));
}

Matrix arriving_rows(Model const& model, std::vector<int> const& ids, std::size_t layer,
                     std::function<void(std::size_t)> const& progress) {
    if (model.has_hidden_states(layer)) return model.hidden_states(layer);
    return residual_before(layer, first_rows(model, ids), blocks_of(model, progress));
}

Tokens describe_tokens(Model const& model, std::vector<int> const& ids) {
    Tokens tokens;
    for (int const id : ids) tokens.push_back({id, model.tokenizer().bytes(id)});
    return tokens;
}

Blocks blocks_of(Model const& model, std::function<void(std::size_t)> const& progress) {
    auto const attention = [&model, progress](std::size_t layer) {
        if (progress) progress(layer);
        return model.attention(layer);
    };
    return {attention, [&model](std::size_t layer) { return model.mlp(layer); }};
}

}  // namespace onehead
