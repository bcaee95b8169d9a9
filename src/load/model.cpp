#include "load/model.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "error.hpp"
#include "load/checkpoint.hpp"
#include "load/excerpt.hpp"

namespace onehead {

namespace fs = std::filesystem;

std::vector<std::size_t> Model::layers() const {
    std::vector<std::size_t> all(config().n_layer);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void Model::check_layer(std::size_t layer) const {
    auto const there = layers();
    if (std::ranges::find(there, layer) == there.end())
        throw UsageError(fmt::format("layer {} is not in {}, which holds {}: choose one of them", layer,
                                     name(), fmt::join(there, ", ")));
}

void Model::check_tokens(std::vector<int> const& tokens) const {
    if (tokens.empty()) throw UsageError("expected a text of at least one token, found none");
    if (tokens.size() > config().n_ctx)
        throw UsageError(fmt::format("the text has {} tokens, {} takes at most {}: shorten it", tokens.size(),
                                     name(), config().n_ctx));
    for (int const id : tokens)
        if (id < 0 || static_cast<std::size_t>(id) >= config().vocab_size)
            throw UsageError(fmt::format("token id {} is not in the vocabulary of {}, which ends at {}", id,
                                         name(), config().vocab_size - 1));
}

std::unique_ptr<Model> open_model(fs::path const& path) {
    std::error_code not_there;  // which Excerpt reports
    if (fs::is_directory(path, not_there)) return std::make_unique<Checkpoint>(path);
    return std::make_unique<Excerpt>(path);
}

// Installed, a program lies in bin or in libexec/onehead, and the models in share/onehead.
fs::path data_folder() {
    std::error_code no_link;
    auto const programs = fs::read_symlink("/proc/self/exe", no_link).parent_path();
    for (fs::path const& prefix : {programs.parent_path(), programs.parent_path().parent_path()})
        if (fs::is_directory(prefix / "share" / "onehead")) return prefix / "share" / "onehead";
    fs::path source_tree = ONEHEAD_DATA;
    if (fs::is_directory(source_tree)) return source_tree;
    throw Error(
        fmt::format("{}: expected the folder with the models beside it in share/onehead, found none: name a "
                    "model with --model",
                    programs.string()));
}

fs::path default_model() {
    char const* const chosen = std::getenv("ONEHEAD_MODEL");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    auto const downloaded = data_folder() / "gpt2";
    return fs::exists(downloaded / "model.safetensors") ? downloaded : data_folder() / "gpt2-mini";
}

}  // namespace onehead
