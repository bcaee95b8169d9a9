#include "load/config.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>

#include "error.hpp"
#include "load/json.hpp"

namespace onehead {
namespace {

using nlohmann::json;

constexpr std::size_t deepest = 16384;
constexpr std::size_t widest = 16384;  // GPT-2 XL has 1600; a matrix of it should still fit into memory

// A config and the file it is from.
struct Source {
    json values;
    std::string file;

    // Null where the key is missing: Hugging Face writes null for "as usual".
    json get(char const* key) const { return values.value(key, json()); }

    [[noreturn]] void refuse(char const* key, std::string_view expected) const {
        auto const found = get(key).dump(-1, ' ', true).substr(0, 80);
        throw Error(fmt::format("{}: {}: expected {}, found {}", file, key, expected, found));
    }

    std::size_t count(char const* key) const {
        if (!get(key).is_number_unsigned() || get(key) == 0) refuse(key, "a whole number above 0");
        return get(key).get<std::size_t>();
    }

    std::size_t count(char const* key, std::size_t usual) const {
        return get(key).is_null() ? usual : count(key);
    }
};

// An option that this program does not follow, and its value in GPT-2.
struct Fixed {
    char const* key;
    json usual;
};

// reorder_and_upcast_attn is not among them: it changes the order of two multiplications, hence rounding
// alone. gelu_pytorch_tanh is another name of gelu_new.
void refuse_other_arithmetic(Source const& source) {
    std::array const fixed{
        Fixed{"model_type", "gpt2"},
        Fixed{"scale_attn_weights", true},
        Fixed{"scale_attn_by_inverse_layer_idx", false},
        Fixed{"add_cross_attention", false},
    };
    for (auto const& [key, usual] : fixed)
        if (!source.get(key).is_null() && source.get(key) != usual)
            source.refuse(key, fmt::format("{}, since only GPT-2's arithmetic is traced", usual.dump()));
    json const activation = source.values.value("activation_function", json("gelu_new"));
    if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
        source.refuse("activation_function", "gelu_new, since only GPT-2's arithmetic is traced");
}

double epsilon(Source const& source) {
    json const value = source.get("layer_norm_epsilon");
    if (value.is_null()) return Config{}.layer_norm_epsilon;
    if (!value.is_number()) source.refuse("layer_norm_epsilon", "a number");
    return value.get<double>();
}

}  // namespace

Config read_config(std::filesystem::path const& path) {
    Source const source{read_json(path), path.string()};
    if (!source.values.is_object()) throw Error(fmt::format("{}: expected a JSON object", source.file));
    refuse_other_arithmetic(source);
    Config config;
    config.d_model = source.count("n_embd");
    config.n_head = source.count("n_head");
    config.n_layer = source.count("n_layer");
    config.n_ctx = source.count("n_positions", source.count("n_ctx", 1024));
    config.vocab_size = source.count("vocab_size", 50257);
    config.d_mlp = source.count("n_inner", 4 * config.d_model);
    config.layer_norm_epsilon = epsilon(source);
    check_config(config, source.file);
    return config;
}

void check_config(Config const& config, std::string const& source) {
    if (config.d_model > widest || config.d_mlp > 4 * widest)
        throw Error(
            fmt::format("{}: expected a width of at most {} (n_embd) and {} (n_inner), found {} and {}",
                        source, widest, 4 * widest, config.d_model, config.d_mlp));
    if (config.n_layer > deepest)
        throw Error(fmt::format("{}: n_layer: expected at most {} layers, found {}", source, deepest,
                                config.n_layer));
    if (config.n_head == 0 || config.d_model % config.n_head != 0)
        throw Error(fmt::format("{}: n_head {} does not divide the width {} (n_embd) evenly", source,
                                config.n_head, config.d_model));
    if (!std::isfinite(config.layer_norm_epsilon) || config.layer_norm_epsilon <= 0)
        throw Error(fmt::format("{}: layer_norm_epsilon: expected a small number above 0, found {}", source,
                                config.layer_norm_epsilon));
}

}  // namespace onehead
