#include "load/block.hpp"

#include <fmt/format.h>

namespace onehead {
namespace {

// The tensors of one block, by what comes after "h.3.".
class Block {
public:
    Block(WeightFile const& source, std::size_t layer)
        : source_(source), prefix_(fmt::format("h.{}.", layer)) {}

    Vector vector(std::string const& name, std::size_t n) const {
        source_.expect(prefix_ + name, {n});
        return source_.file.read_vector(source_.full_name(prefix_ + name), n);
    }

    Matrix matrix(std::string const& name, std::size_t rows, std::size_t columns) const {
        source_.expect(prefix_ + name, {rows, columns});
        return source_.file.read_matrix(source_.full_name(prefix_ + name), rows, columns);
    }

    LayerNorm layer_norm(std::string const& name) const {
        auto const& config = source_.config;
        return {vector(name + ".weight", config.d_model), vector(name + ".bias", config.d_model),
                config.layer_norm_epsilon};
    }

private:
    WeightFile const& source_;
    std::string prefix_;
};

}  // namespace

std::string WeightFile::full_name(std::string const& name) const {
    auto in_wrapper = fmt::format("transformer.{}", name);
    return file.find(in_wrapper) != nullptr ? in_wrapper : name;
}

void WeightFile::expect(std::string const& name, std::vector<std::uint64_t> const& shape) const {
    file.expect_shape(full_name(name), shape, shapes_from);
}

AttentionWeights read_attention(WeightFile const& source, std::size_t layer) {
    Block const block(source, layer);
    auto const n = source.config.d_model;
    return {.n_head = source.config.n_head,
            .ln_1 = block.layer_norm("ln_1"),
            .c_attn = block.matrix("attn.c_attn.weight", n, 3 * n),
            .c_attn_bias = block.vector("attn.c_attn.bias", 3 * n),
            .c_proj = block.matrix("attn.c_proj.weight", n, n),
            .c_proj_bias = block.vector("attn.c_proj.bias", n)};
}

MlpWeights read_mlp(WeightFile const& source, std::size_t layer) {
    Block const block(source, layer);
    auto const n = source.config.d_model;
    auto const d_mlp = source.config.d_mlp;
    return {.ln_2 = block.layer_norm("ln_2"),
            .c_fc = block.matrix("mlp.c_fc.weight", n, d_mlp),
            .c_fc_bias = block.vector("mlp.c_fc.bias", d_mlp),
            .c_proj = block.matrix("mlp.c_proj.weight", d_mlp, n),
            .c_proj_bias = block.vector("mlp.c_proj.bias", n)};
}

}  // namespace onehead
