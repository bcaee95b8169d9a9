#include "onehead/model/excerpt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <type_traits>

#include "onehead/error.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/system.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/run.hpp"

namespace onehead {

namespace {

constexpr std::size_t bundled_vocabulary = 50257;  // GPT-2's

std::string hidden_states_name(std::size_t layer) {
    return fmt::format("hidden_states.{}", layer);
}

}  // namespace

Excerpt::Excerpt(std::filesystem::path const& path)
    : weights_{Safetensors(path), {}, "to fit the excerpt's other parts"},
      metadata_(read_excerpt_metadata(weights_.file)),
      layers_(find_layers(weights_.file)),
      rows_(find_rows(weights_)),
      tokenizer_(data_folder() / "gpt2-mini") {
    weights_.config = make_config();
    check_config(weights_.config, weights_.file.name());
    check_shapes();
    try {
        Excerpt::check_tokens(own_tokens());
    } catch (UsageError const& error) {
        throw Error(
            fmt::format("{}: does not hold what its own text needs: {}", weights_.file.name(), error.what()));
    }
}

bool Excerpt::has(std::string const& tensor) const {
    return weights_.file.find(weights_.full_name(tensor)) != nullptr;
}

Config Excerpt::make_config() const {
    auto const first_size = [this](std::string const& name) {
        auto const& shape = weights_.file.at(weights_.full_name(name)).shape;
        return shape.empty() ? 0 : shape[0];
    };
    Config config;
    config.d_model = first_size(fmt::format("h.{}.ln_1.weight", layers_.front()));
    config.n_head = metadata_.n_head;
    config.n_layer = metadata_.n_layer.value_or(layers_.back() + 1);
    config.n_ctx = any_hidden_states() ? own_tokens().size() : first_size("wpe.weight");
    config.vocab_size = has("wte.weight") ? first_size("wte.weight") : bundled_vocabulary;
    config.layer_norm_epsilon = metadata_.layer_norm_epsilon;
    return config;
}

void Excerpt::check_shapes() const {
    auto const& [d_model, n_head, n_layer, n_ctx, vocab_size, epsilon, d_mlp] = config();
    if (has("wpe.weight") && !any_hidden_states()) weights_.expect("wpe.weight", {n_ctx, d_model});
    if (has("wte.weight")) weights_.expect("wte.weight", {vocab_size, d_model});
    if (has("wte.rows") || !rows_.empty()) weights_.expect("wte.rows", {rows_.size(), d_model});
    if (n_layer <= layers_.back())
        throw Error(fmt::format("{}: expected layers below n_layer {}, found {}", weights_.file.name(),
                                n_layer, layers_.back()));
    for (auto const layer : layers_)
        if (has_hidden_states(layer))
            weights_.expect(hidden_states_name(layer), {own_tokens().size(), d_model});
}

std::string Excerpt::name() const {
    return fmt::format("{} ({})", metadata_.model,
                       printable(std::filesystem::path(weights_.file.name()).filename().string()));
}

bool Excerpt::has_hidden_states(std::size_t layer) const {
    return has(hidden_states_name(layer));
}

bool Excerpt::any_hidden_states() const {
    return std::ranges::any_of(layers_, [this](std::size_t layer) { return has_hidden_states(layer); });
}

void Excerpt::check_tokens(std::vector<int> const& tokens) const {
    Model::check_tokens(tokens);
    if (!any_hidden_states())
        for (int const id : tokens) row_of(id);
    else if (tokens != own_tokens())
        throw UsageError(
            fmt::format("{}: holds no embeddings but the hidden states of its own text: use that, {}", name(),
                        quote(own_text())));
}

std::size_t Excerpt::row_of(int id) const {
    if (rows_.empty() && has("wte.weight")) return static_cast<std::size_t>(id);
    if (auto const found = rows_.find(id); found != rows_.end()) return found->second;
    throw UsageError(fmt::format("{}: holds no embedding of token {}: it is made for the text {} (ids {})",
                                 name(), id, quote(own_text()), fmt::join(own_tokens(), ", ")));
}

Matrix Excerpt::hidden_states(std::size_t layer) const {
    check_layer(layer);
    if (!has_hidden_states(layer))
        throw UsageError(fmt::format("{}: holds embeddings, not the input of layer {}", name(), layer));
    return weights_.file.read_matrix(weights_.full_name(hidden_states_name(layer)), own_tokens().size(),
                                     config().d_model);
}

Embedding Excerpt::embed(std::vector<int> const& tokens) const {
    check_tokens(tokens);
    if (any_hidden_states())
        throw UsageError(
            fmt::format("{}: holds no embeddings, only the input of layer {}", name(), layers_.front()));
    std::vector<std::size_t> rows;
    rows.reserve(tokens.size());
    for (int const id : tokens) rows.push_back(row_of(id));
    return {
        .token = weights_.file.read_rows(weights_.full_name(rows_.empty() ? "wte.weight" : "wte.rows"), rows),
        .position = weights_.file.read_first_rows(weights_.full_name("wpe.weight"), tokens.size())};
}

AttentionWeights Excerpt::attention(std::size_t layer) const {
    check_layer(layer);
    return read_attention(weights_, layer);
}

MlpWeights Excerpt::mlp(std::size_t layer) const {
    throw UsageError(fmt::format(
        "{}: holds no MLP of layer {}, which the layers above it need: use the whole model", name(), layer));
}

namespace {

constexpr std::uint64_t most_rows = 1'000'000;  // far beyond GPT-2's 50257 tokens

// "h.4.attn.c_attn.weight" or "transformer.h.4.attn.c_attn.weight": 4. Nothing for another name.
std::optional<std::size_t> layer_in(std::string_view name) {
    if (name.starts_with("transformer.")) name.remove_prefix(std::string_view("transformer.").size());
    if (!name.starts_with("h.")) return std::nullopt;
    std::uint16_t layer = 0;
    auto const [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), layer);
    if (error != std::errc{} || std::string_view(end, name.data() + name.size()) != ".attn.c_attn.weight")
        return std::nullopt;
    return layer;
}

}  // namespace

std::vector<std::size_t> find_layers(Safetensors const& file) {
    std::set<std::size_t> layers;
    for (auto const& [name, _] : file.tensors())
        if (auto const layer = layer_in(name)) layers.insert(*layer);
    if (layers.empty())
        throw Error(
            fmt::format("{}: expected the attention weights of a block (h.0.attn.c_attn.weight), found none: "
                        "not an excerpt",
                        file.name()));
    return {layers.begin(), layers.end()};
}

std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights) {
    auto const name = weights.full_name("wte.row_ids");
    std::map<std::int64_t, std::size_t> rows;
    auto const* const ids = weights.file.find(name);
    if (ids == nullptr) return rows;
    if (ids->shape.size() != 1 || ids->shape[0] > most_rows)
        throw Error(fmt::format("{}: tensor {}: expected shape [m] with at most {} token ids, found [{}]",
                                weights.file.name(), quote(name), most_rows, fmt::join(ids->shape, ", ")));
    for (std::int64_t const id : weights.file.read_integers(name))
        if (!rows.emplace(id, rows.size()).second)
            throw Error(fmt::format("{}: tensor {}: token id {} is there twice", weights.file.name(),
                                    quote(name), id));
    return rows;
}

namespace {

// The texts by their keys, each turned into what it stands for.
class Reader {
public:
    explicit Reader(Safetensors const& file) : file_(file) {}

    bool has(std::string_view key) const { return file_.metadata().contains(key); }

    std::string const& text(std::string_view key) const {
        auto const found = file_.metadata().find(key);
        if (found != file_.metadata().end()) return found->second;
        throw Error(fmt::format(
            "{}: expected an excerpt with metadata {}, found none: of a checkpoint, give the folder",
            file_.name(), quote(key)));
    }

    [[noreturn]] void refuse(std::string_view key, std::string_view expected) const {
        throw Error(fmt::format("{}: metadata {}: expected {}, found {}", file_.name(), quote(key), expected,
                                quote(text(key))));
    }

    template <class Number>
    Number number(std::string_view key, std::string_view expected) const {
        auto const& digits = text(key);
        if constexpr (std::is_floating_point_v<Number>) {
            auto const value = read_double(digits);
            if (!value) refuse(key, expected);
            return *value;
        } else {
            Number value{};
            auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
            if (error != std::errc{} || end != digits.data() + digits.size()) refuse(key, expected);
            return value;
        }
    }

    std::size_t count(std::string_view key) const {
        auto const value = number<std::size_t>(key, "a whole number above 0");
        if (value == 0) refuse(key, "a whole number above 0");
        return value;
    }

    std::string one_line(std::string_view key) const {
        if (printable(text(key)) != text(key)) refuse(key, "a name on one line, all of it visible");
        return text(key);
    }

    std::vector<int> ids(std::string_view key) const {
        auto const list = parse_json(text(key), fmt::format("{}: metadata {}", file_.name(), quote(key)));
        auto const is_id = [](nlohmann::json const& id) {
            return id.is_number_unsigned() && id <= std::numeric_limits<int>::max();
        };
        if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_id))
            refuse(key, "a list of token ids");
        return list.get<std::vector<int>>();
    }

    Rows rows(std::string_view key) const {
        if (text(key) == "exact") return Rows::exact;
        if (text(key) == "shifted") return Rows::shifted;
        if (text(key) == "rescaled") return Rows::rescaled;
        refuse(key, "exact, shifted or rescaled");
    }

private:
    Safetensors const& file_;
};

}  // namespace

ExcerptMetadata read_excerpt_metadata(Safetensors const& file) {
    Reader const reader(file);
    return {.model = reader.one_line("model"),
            .text = reader.text("text"),
            .token_ids = reader.ids("token_ids"),
            .rows = reader.rows("residual"),
            .n_head = reader.count("n_head"),
            .layer_norm_epsilon = reader.number<double>("layer_norm_epsilon", "a number"),
            .n_layer = reader.has("n_layer") ? std::optional(reader.count("n_layer")) : std::nullopt};
}

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// Tensors one after the other, and the header that says where each is.
class SafetensorsBytes {  // NOLINT(bugprone-exception-escape): of the JSON library's move
public:
    void add(std::string const& name, Matrix const& m) {
        add(name, "F32", {m.shape(0), m.shape(1)}, m.data(), m.size() * sizeof(float));
    }
    void add(std::string const& name, Vector const& v) {
        add(name, "F32", {v.size()}, v.data(), v.size() * sizeof(float));
    }
    void add(std::string const& name, std::vector<std::int64_t> const& v) {
        add(name, "I64", {v.size()}, v.data(), v.size() * sizeof(std::int64_t));
    }
    void set_metadata(nlohmann::ordered_json metadata) { header_["__metadata__"] = std::move(metadata); }

    std::string bytes() const {
        std::string header = header_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        header.resize((header.size() + 7) / 8 * 8, ' ');
        auto const length = static_cast<std::uint64_t>(header.size());
        return std::string(reinterpret_cast<char const*>(&length), sizeof length) + header + data_;
    }

private:
    void add(std::string const& name, char const* dtype, std::vector<std::size_t> const& shape,
             void const* values, std::size_t size) {
        header_[name] = {
            {"dtype", dtype}, {"shape", shape}, {"data_offsets", {data_.size(), data_.size() + size}}};
        data_.append(static_cast<char const*>(values), size);
    }

    nlohmann::ordered_json header_;
    std::string data_;
};

void add_attention(SafetensorsBytes& file, AttentionWeights const& block, std::size_t layer) {
    auto const add = [&](char const* name, auto const& values) {
        file.add(fmt::format("h.{}.{}", layer, name), values);
    };
    add("ln_1.weight", block.ln_1.gain);
    add("ln_1.bias", block.ln_1.bias);
    add("attn.c_attn.weight", block.c_attn);
    add("attn.c_attn.bias", block.c_attn_bias);
    add("attn.c_proj.weight", block.c_proj);
    add("attn.c_proj.bias", block.c_proj_bias);
}

void add_embeddings(SafetensorsBytes& file, Model const& model, std::vector<int> const& ids) {
    std::vector<int> distinct = ids;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    file.add("wte.rows", model.embed(distinct).token);
    file.add("wte.row_ids", std::vector<std::int64_t>(distinct.begin(), distinct.end()));
    file.add("wpe.weight", model.embed(ids).position);
}

nlohmann::ordered_json metadata(Model const& model, std::size_t layer, std::vector<int> const& ids) {
    return {{"format", "pt"},
            {"model", model.name()},
            {"n_head", std::to_string(model.config().n_head)},
            {"n_layer", std::to_string(model.config().n_layer)},
            {"layer_norm_epsilon", fmt::format("{}", model.config().layer_norm_epsilon)},
            {"text", model.tokenizer().decode(ids)},
            {"token_ids", fmt::format("[{}]", fmt::join(ids, ", "))},
            {"layers", std::to_string(layer)},
            {"residual", "exact"}};
}

}  // namespace

std::string make_excerpt(Model const& model, std::size_t layer, std::vector<int> const& ids) {
    model.check_layer(layer);
    model.check_tokens(ids);
    expect_memory(model.config(), ids.size());
    if (model.rows() != Rows::exact)
        throw UsageError(fmt::format(
            "{}: its rows are not exact, so that no exact excerpt can be cut from it; use the whole model",
            model.name()));
    SafetensorsBytes file;
    file.set_metadata(metadata(model, layer, ids));
    add_attention(file, model.attention(layer), layer);
    if (layer == 0 && !model.has_hidden_states(0))
        add_embeddings(file, model, ids);
    else
        file.add(fmt::format("hidden_states.{}", layer), arriving_rows(model, ids, layer));
    return file.bytes();
}

}  // namespace onehead
