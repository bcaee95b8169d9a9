// What the targets share. Bytes come in; a result or an Error of one readable line comes out. Anything else
// that is thrown, or a broken promise, ends the program, and libFuzzer keeps the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "onehead/error.hpp"
#include "onehead/io/text.hpp"
#include "support/temp_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace onehead::fuzz {

inline std::string text_of(std::uint8_t const* data, std::size_t size) {
    return {data, data + size};
}

inline void promise(bool kept) {
    if (!kept) std::abort();
}

// No control characters, which a terminal would obey, and valid UTF-8.
inline bool is_plain(std::string_view text, std::string_view allowed = "") {
    for (char const c : text) {
        bool const is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
        if (is_control && allowed.find(c) == std::string_view::npos) return false;
    }
    return find_invalid_utf8(text) == std::string_view::npos;
}

// False if an Error was thrown.
template <class Call>
bool works(Call const& call) {
    try {
        call();
    } catch (Error const& error) {
        std::string const message = error.what();
        promise(is_plain(message) && !message.empty() && message.size() < 2000);
        return false;
    }
    return true;
}

// Up to the next NUL, which is taken off too.
inline std::string take_part(std::string_view& rest) {
    std::string const part{rest.substr(0, rest.find('\0'))};
    rest.remove_prefix(part.size() < rest.size() ? part.size() + 1 : part.size());
    return part;
}

// A folder in memory where TMPDIR says so.
inline test::TempFolder const& folder() {
    static test::TempFolder const made;
    return made;
}

}  // namespace onehead::fuzz
