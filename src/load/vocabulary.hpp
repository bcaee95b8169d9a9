// vocab.json: the id of each symbol. GPT-2's own follows from its merges alone, so this is read only for a
// model whose vocabulary is another.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "load/merges.hpp"

namespace onehead {

struct Vocabulary {
    std::vector<std::string> bytes;  // by id
    std::vector<int> ids;            // by symbol

    int size() const { return static_cast<int>(bytes.size()); }
};

// Throws an Error unless the file is one JSON object that gives each symbol of the merges, and perhaps
// further tokens, an id of its own, counting from 0 without a gap.
Vocabulary read_vocabulary(std::filesystem::path const& file, Merges const& merges);

}  // namespace onehead
