#include "onehead/model/excerpt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/json.hpp"
#include "onehead/io/text.hpp"
#include "onehead/model/run.hpp"

namespace onehead {

using nlohmann::json;

namespace {

constexpr std::size_t bundled_vocabulary = 50257;  // GPT-2's
constexpr std::uint64_t most_rows = 1'000'000;     // far beyond that

std::string hidden_states_name(std::size_t layer) {
    return fmt::format("hidden_states.{}", layer);
}

ExcerptMetadata read_metadata(Safetensors const& file);

// The layers whose attention is there, rising. Throws an Error if there is none.
std::vector<std::size_t> find_layers(Safetensors const& file);

// For each token id in wte.row_ids, the row of wte.rows with its embedding. Empty if there are none; throws
// an Error for an id that is there twice.
std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights);

std::vector<int> ids_of(Tokens const& tokens) {
    std::vector<int> ids;
    for (Token const& token : tokens) ids.push_back(token.id);
    return ids;
}

}  // namespace

Excerpt::Excerpt(std::filesystem::path const& path)
    : weights_{Safetensors(path), {}, "to fit the excerpt's other parts"},
      metadata_(read_metadata(weights_.file)),
      layers_(find_layers(weights_.file)),
      rows_(find_rows(weights_)) {
    weights_.config = make_config();
    check_config(weights_.config, weights_.file.name());
    check_shapes();
    try {
        Excerpt::check_tokens(Excerpt::own_tokens());
    } catch (UsageError const& error) {
        throw Error({weights_.file.name(), "all that its own text needs", error.what()});
    }
}

std::vector<int> Excerpt::own_tokens() const {
    return ids_of(metadata_.tokens);
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
    config.n_ctx = any_hidden_states() ? metadata_.tokens.size() : first_size("wpe.weight");
    config.vocab_size = has("wte.weight") ? first_size("wte.weight") : bundled_vocabulary;
    // Of the rows that are there, whatever their ids, a model with a vocabulary of its own may have more.
    for (auto const& [id, _] : rows_)
        config.vocab_size =
            std::max(config.vocab_size, static_cast<std::size_t>(std::max<std::int64_t>(id, 0)) + 1);
    if (any_hidden_states())
        for (Token const& token : metadata_.tokens)
            config.vocab_size = std::max(config.vocab_size, static_cast<std::size_t>(token.id) + 1);
    config.layer_norm_epsilon = metadata_.layer_norm_epsilon;
    return config;
}

void Excerpt::check_shapes() const {
    std::size_t const d_model = config().d_model;
    if (has("wpe.weight") && !any_hidden_states()) weights_.expect("wpe.weight", {config().n_ctx, d_model});
    if (has("wte.weight")) weights_.expect("wte.weight", {config().vocab_size, d_model});
    if (has("wte.rows") || !rows_.empty()) weights_.expect("wte.rows", {rows_.size(), d_model});
    if (config().n_layer <= layers_.back())
        throw Error({weights_.file.name(), fmt::format("layers below n_layer {}", config().n_layer),
                     std::to_string(layers_.back())});
    for (auto const layer : layers_)
        if (has_hidden_states(layer))
            weights_.expect(hidden_states_name(layer), {metadata_.tokens.size(), d_model});
}

std::string Excerpt::name() const {
    return fmt::format("{} ({})", metadata_.model, file_name());
}

std::string Excerpt::file_name() const {
    return printable(std::filesystem::path(weights_.file.name()).filename().string());
}

// Text and tokens. Another program may have this file and not our data. Which vocabulary an excerpt has shows
// in its own text alone.

namespace {

bool has_data_folder() {
    try {
        return !data_folder().empty();
    } catch (Error const&) {
        return false;
    }
}

}  // namespace

bool Excerpt::is_of(Tokenizer const& vocabulary) const {
    std::string text;
    for (Token const& token : metadata_.tokens) {
        std::string const bytes = vocabulary.token(token.id).bytes;
        if (metadata_.has_bytes && bytes != token.bytes) return false;
        text += bytes;
    }
    return valid_utf8(text) == metadata_.text;
}

Tokenizer const& Excerpt::tokenizer() const {
    if (!tokenizer_) tokenizer_.emplace(data_folder() / "gpt2-mini");
    Tokenizer const& bundled = tokenizer_->get();
    if (is_of(bundled)) return bundled;
    throw Error({weights_.file.name(),
                 fmt::format("tokens of GPT-2's vocabulary that give the text {}", quote(metadata_.text)),
                 "others", "cut the excerpt again, so that it carries its tokens (token_bytes)"});
}

std::vector<int> Excerpt::encode(std::string_view text) const {
    try {
        return Model::encode(text);
    } catch (UsageError const&) {
        throw;
    } catch (Error const&) {
        if (metadata_.has_bytes && text == metadata_.text) return own_tokens();
        throw UsageError("text", {"",
                                  fmt::format("{}, the text that this excerpt's vocabulary is known for",
                                              quote(metadata_.text)),
                                  quote(text), "give token ids instead"});
    }
}

Tokens Excerpt::tokens(std::vector<int> const& ids) const {
    std::map<int, Token> known;
    if (metadata_.has_bytes)
        for (Token const& token : metadata_.tokens) known.emplace(token.id, token);
    Tokens tokens;
    if (std::ranges::all_of(ids, [&](int id) { return known.contains(id); })) {
        for (int const id : ids) tokens.push_back(known.at(id));
        return tokens;
    }
    if (!metadata_.has_bytes && has_data_folder()) tokenizer();  // refuses where its labels would be wrong
    tokens = Model::tokens(ids);
    for (Token& token : tokens)
        if (auto const own = known.find(token.id); own != known.end()) token = own->second;
    return tokens;
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

// Weights and rows.

bool Excerpt::has_hidden_states(std::size_t layer) const {
    return has(hidden_states_name(layer));
}

bool Excerpt::any_hidden_states() const {
    return std::ranges::any_of(layers_, [this](std::size_t layer) { return has_hidden_states(layer); });
}

Matrix Excerpt::hidden_states(std::size_t layer) const {
    check_layer(layer);
    if (!has_hidden_states(layer))
        throw UsageError(fmt::format("{}: holds embeddings, not the input of layer {}", name(), layer));
    return weights_.file.read_matrix(weights_.full_name(hidden_states_name(layer)), metadata_.tokens.size(),
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
    std::string const token_rows = weights_.full_name(rows_.empty() ? "wte.weight" : "wte.rows");
    return {.token = weights_.file.read_rows(token_rows, rows),
            .position = weights_.file.read_rows_from_to(weights_.full_name("wpe.weight"), 0, tokens.size())};
}

AttentionWeights Excerpt::attention(std::size_t layer) const {
    check_layer(layer);
    return read_attention(weights_, layer);
}

MlpWeights Excerpt::mlp(std::size_t layer) const {
    throw UsageError(fmt::format(
        "{}: holds no MLP of layer {}, which the layers above it need: use the whole model", name(), layer));
}

LayerNorm Excerpt::final_norm() const {
    throw UsageError(fmt::format("{}: holds no final LayerNorm: use the whole model", name()));
}

Matrix Excerpt::unembedding(std::size_t /*first*/, std::size_t /*last*/) const {
    throw UsageError(fmt::format("{}: holds no unembedding: use the whole model", name()));
}

// Which parts a file holds, as its tensors' names and token ids say.

namespace {

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

std::vector<std::size_t> find_layers(Safetensors const& file) {
    std::set<std::size_t> layers;
    for (auto const& [name, _] : file.tensors())
        if (auto const layer = layer_in(name)) layers.insert(*layer);
    if (layers.empty())
        throw Error({file.name(), "the attention weights of a layer (h.0.attn.c_attn.weight)", "none",
                     "it is not an excerpt"});
    return {layers.begin(), layers.end()};
}

std::map<std::int64_t, std::size_t> find_rows(WeightFile const& weights) {
    auto const name = weights.full_name("wte.row_ids");
    auto const place = fmt::format("{}: tensor {}", weights.file.name(), quote(name));
    std::map<std::int64_t, std::size_t> rows;
    auto const* const ids = weights.file.find(name);
    if (ids == nullptr) return rows;
    if (ids->shape.size() != 1 || ids->shape[0] > most_rows)
        throw Error({place, fmt::format("shape [m] with at most {} token ids", most_rows),
                     fmt::format("[{}]", fmt::join(ids->shape, ", "))});
    for (std::int64_t const id : weights.file.read_integers(name)) {
        if (id < 0 || id > std::numeric_limits<int>::max())
            throw Error({place, "token ids", std::to_string(id)});
        if (!rows.emplace(id, rows.size()).second)
            throw Error({place, "each token id once", fmt::format("{} twice", id)});
    }
    return rows;
}

}  // namespace

// The metadata. Its values are texts; numbers and lists are written in them as JSON.

namespace {

std::optional<std::string> bytes_of_hex(json const& digits) {
    if (!digits.is_string()) return std::nullopt;
    auto const& hex = digits.get_ref<std::string const&>();
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        unsigned char byte = 0;
        char const* const last = hex.data() + std::min(at + 2, hex.size());
        auto const [end, error] = std::from_chars(&hex[at], last, byte, 16);
        if (error != std::errc{} || end != &hex[at] + 2) return std::nullopt;
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

std::string hex_of(std::string_view bytes) {
    std::string hex;
    for (char const byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return hex;
}

Tokens read_tokens(JsonObject const& metadata) {
    constexpr std::size_t most = 100'000;
    Tokens tokens;
    for (json const& id : metadata.list("token_ids", most)) {
        if (!is_count(id, 0, std::numeric_limits<int>::max()))
            metadata.refuse("token_ids", "a list of token ids");
        tokens.push_back({.id = id.get<int>()});
    }
    return tokens;
}

// Two ids with the same bytes need different labels.
void mark_twins(Tokens& tokens) {
    std::map<std::string, int> seen;
    for (Token const& token : tokens)
        if (auto const [first, is_new] = seen.emplace(token.bytes, token.id);
            !is_new && first->second != token.id)
            first->second = -1;
    for (Token& token : tokens) token.has_twin = seen.at(token.bytes) == -1;
}

void read_bytes(Tokens& tokens, JsonObject const& metadata) {
    json const& list = metadata.get("token_bytes");
    if (!list.is_array() || list.size() != tokens.size())
        metadata.refuse("token_bytes", fmt::format("a list of {} texts, for each token one", tokens.size()));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        auto const bytes = bytes_of_hex(list[i]);
        if (!bytes) metadata.refuse("token_bytes", "bytes as hexadecimal digits, two for each");
        tokens[i].bytes = *bytes;
    }
    if (valid_utf8(text_of(tokens)) != metadata.text("text"))
        metadata.refuse("token_bytes",
                        fmt::format("bytes that give the text {}", quote(metadata.text("text"))));
    mark_twins(tokens);
}

Rows read_rows(JsonObject const& metadata) {
    std::string const text = metadata.text("residual");
    if (text == "exact") return Rows::exact;
    if (text == "shifted") return Rows::shifted;
    if (text == "rescaled") return Rows::rescaled;
    metadata.refuse("residual", "exact, shifted or rescaled");
}

ExcerptMetadata read_metadata(Safetensors const& file) {
    std::string const place = file.name() + ": metadata";
    if (!file.metadata().contains("model"))
        throw Error({file.name(), "an excerpt, whose metadata has \"model\"", "none",
                     "of a checkpoint, give the folder"});
    json values = file.metadata();
    for (char const* const key : {"n_head", "n_layer", "layer_norm_epsilon", "token_ids", "token_bytes"})
        if (auto const found = file.metadata().find(key); found != file.metadata().end())
            values[key] = parse_json(found->second, fmt::format("{}: {}", place, key));
    JsonObject const metadata(values, place);
    constexpr std::size_t most = 16384;
    ExcerptMetadata result{.model = metadata.line("model"),
                           .text = metadata.text("text"),
                           .tokens = read_tokens(metadata),
                           .has_bytes = metadata.has("token_bytes"),
                           .rows = read_rows(metadata),
                           .n_head = metadata.count("n_head", 1, most),
                           .layer_norm_epsilon = metadata.number("layer_norm_epsilon"),
                           .n_layer = std::nullopt};
    if (metadata.has("n_layer")) result.n_layer = metadata.count("n_layer", 1, most);
    if (result.has_bytes) read_bytes(result.tokens, metadata);
    return result;
}

}  // namespace

// Making one.

namespace {

std::vector<std::pair<std::string, std::string>> make_metadata(Model const& model, std::size_t layer,
                                                               std::vector<int> const& ids) {
    Tokens const tokens = model.tokens(ids);
    std::vector<std::string> hex;
    for (Token const& token : tokens) hex.push_back(fmt::format("\"{}\"", hex_of(token.bytes)));
    return {{"format", "pt"},
            {"model", model.name()},
            {"n_head", std::to_string(model.config().n_head)},
            {"n_layer", std::to_string(model.config().n_layer)},
            {"layer_norm_epsilon", fmt::format("{}", model.config().layer_norm_epsilon)},
            {"text", valid_utf8(text_of(tokens))},
            {"token_ids", fmt::format("[{}]", fmt::join(ids, ", "))},
            {"token_bytes", fmt::format("[{}]", fmt::join(hex, ", "))},
            {"layers", std::to_string(layer)},
            {"residual", "exact"}};
}

void add_attention(SafetensorsWriter& file, AttentionWeights const& block, std::size_t layer) {
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

void add_embeddings(SafetensorsWriter& file, Model const& model, std::vector<int> const& ids) {
    std::set<int> const distinct(ids.begin(), ids.end());
    file.add("wte.rows", model.embed({distinct.begin(), distinct.end()}).token);
    file.add("wte.row_ids", std::vector<std::int64_t>(distinct.begin(), distinct.end()));
    file.add("wpe.weight", model.embed(ids).position);
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
    SafetensorsWriter file(make_metadata(model, layer, ids));
    add_attention(file, model.attention(layer), layer);
    Trace rows;  // refuses what is not finite
    Matrix const& arriving = rows.add(terms::residual, arriving_rows(model, ids, layer));
    if (layer == 0 && !model.has_hidden_states(0))
        add_embeddings(file, model, ids);
    else
        file.add(hidden_states_name(layer), arriving);
    return file.bytes();
}

// Which bytes that takes.

namespace {

// Of one checkpoint, by the names of GPT-2's tensors.
class Ranges {
public:
    explicit Ranges(SafetensorsHeader const& header) : header_(header) {}

    void add_whole(std::string const& name) {
        TensorInfo const& info = find(name);
        add(info.begin, info.end);
    }

    // Rows first to last - 1 of a matrix.
    void add_rows(std::string const& name, std::uint64_t first, std::uint64_t last) {
        TensorInfo const& info = find(name);
        if (info.shape.size() != 2 || last > info.shape[0])
            throw UsageError(fmt::format("{}: expected a row {}, found shape [{}]", name, last - 1,
                                         fmt::join(info.shape, ", ")));
        std::uint64_t const width = (info.end - info.begin) / info.shape[0];
        add(info.begin + first * width, info.begin + last * width);
    }

    std::vector<ByteRange> joined() && {
        std::ranges::sort(ranges_, {}, &ByteRange::begin);
        std::vector<ByteRange> joined;
        for (ByteRange const& range : ranges_)
            if (!joined.empty() && range.begin <= joined.back().end)
                joined.back().end = std::max(joined.back().end, range.end);
            else
                joined.push_back(range);
        return joined;
    }

private:
    TensorInfo const& find(std::string const& name) const {
        auto const found = header_.tensors.find(name_in(header_.tensors, name));
        if (found != header_.tensors.end()) return found->second;
        throw UsageError(fmt::format("expected tensor {} in a checkpoint of GPT-2, found none", quote(name)));
    }

    void add(std::uint64_t begin, std::uint64_t end) {
        ranges_.push_back({header_.data_begin + begin, header_.data_begin + end});
    }

    SafetensorsHeader const& header_;
    std::vector<ByteRange> ranges_;
};

constexpr std::array attention_tensors{"ln_1.weight",      "ln_1.bias",          "attn.c_attn.weight",
                                       "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias"};
constexpr std::array mlp_tensors{"ln_2.weight",   "ln_2.bias",         "mlp.c_fc.weight",
                                 "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"};

}  // namespace

std::vector<ByteRange> excerpt_ranges(SafetensorsHeader const& header, std::size_t layer,
                                      std::vector<int> const& ids) {
    Ranges ranges(header);
    ranges.add_rows("wpe.weight", 0, ids.size());
    for (int const id : ids) {
        if (id < 0) throw UsageError(fmt::format("token id {}: expected one from 0", id));
        auto const row = static_cast<std::uint64_t>(id);
        ranges.add_rows("wte.weight", row, row + 1);
    }
    for (std::size_t l = 0; l <= layer; ++l) {
        for (char const* const name : attention_tensors) ranges.add_whole(fmt::format("h.{}.{}", l, name));
        if (l < layer)
            for (char const* const name : mlp_tensors) ranges.add_whole(fmt::format("h.{}.{}", l, name));
    }
    return std::move(ranges).joined();
}

}  // namespace onehead
