// A file that is recognised by its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace onehead {

struct KnownFile {
    std::uintmax_t size = 0;
    std::string_view sha256;  // hexadecimal, as sha256sum prints it
};

// False also if there is no such file or it cannot be read.
bool is_known(std::filesystem::path const& path, KnownFile const& known);

// The same for what a file holds.
bool is_known(std::string_view content, KnownFile const& known);

}  // namespace onehead
