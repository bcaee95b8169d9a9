// A folder's tokenizer, read when it is first asked for: a run that is given token ids needs none.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "load/tokenizer.hpp"

namespace onehead {

class LazyTokenizer {
public:
    explicit LazyTokenizer(std::filesystem::path folder) : folder_(std::move(folder)) {}

    Tokenizer const& get() const {
        std::call_once(once_, [this] { tokenizer_.emplace(folder_); });
        return *tokenizer_;
    }

private:
    std::filesystem::path folder_;
    mutable std::once_flag once_;
    mutable std::optional<Tokenizer> tokenizer_;
};

}  // namespace onehead
