// The least that a trace of a layer has to do: reads the weights of the blocks up to there, once, in pieces
// that stay in the processor's cache. read_weights MODEL LAYER; the layer's own MLP is left out.
// read_weights MODEL next: what the next token needs, all layers and the embedding of every token.
#include <fcntl.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

bool is_touched(std::string const& name, std::string const& what) {
    if (what == "next")
        return name != "__metadata__" && !name.ends_with("attn.bias") && !name.starts_with("wpe");
    int const layer = std::stoi(what);
    for (int block = 0; block <= layer; ++block) {
        std::string const prefix = "h." + std::to_string(block) + ".";
        bool const is_mask = name == prefix + "attn.bias";
        bool const is_later =
            block == layer && (name.starts_with(prefix + "mlp") || name.starts_with(prefix + "ln_2"));
        if (name.starts_with(prefix)) return !is_mask && !is_later;
    }
    return false;
}

}  // namespace

int main(int /*argc*/, char** argv) {
    std::filesystem::path const path = std::filesystem::path{argv[1]} / "model.safetensors";
    std::uint64_t length = 0;
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&length), sizeof length);
    std::string header(length, '\0');
    file.read(header.data(), static_cast<std::streamsize>(length));

    Json const tensors = Json::parse(header);
    int const descriptor = open(path.c_str(), O_RDONLY);
    std::vector<char> piece(std::size_t{1} << 18U);
    for (auto const& [name, tensor] : tensors.items()) {
        if (!is_touched(name, argv[2])) continue;
        auto const end = sizeof length + length + tensor["data_offsets"][1].get<std::uint64_t>();
        for (auto at = sizeof length + length + tensor["data_offsets"][0].get<std::uint64_t>(); at < end;) {
            ssize_t const got =
                pread(descriptor, piece.data(), std::min(piece.size(), end - at), static_cast<off_t>(at));
            if (got <= 0) return 1;
            at += static_cast<std::uint64_t>(got);
        }
    }
}
