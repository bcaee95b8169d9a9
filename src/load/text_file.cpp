// The size is asked for once; a file that changes while it is read is an error.
#include "load/text_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>
#include <system_error>

#include "error.hpp"

namespace onehead {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(fs::path const& file, std::string_view found, std::string_view advice) {
    throw Error(
        fmt::format("{}: expected a text file of a model, found {}; {}", file.string(), found, advice));
}

std::size_t size_of(fs::path const& file, std::size_t largest) {
    std::error_code error;
    fs::file_status const status = fs::status(file, error);
    if (!fs::exists(status)) refuse(file, "no file", "put the file there, or name another model");
    if (!fs::is_regular_file(status)) refuse(file, "something that is no file", "put the file there");
    std::uintmax_t const size = fs::file_size(file, error);
    if (error) refuse(file, error.message(), "make it readable");
    if (size == 0) refuse(file, "an empty file", "get it again");
    if (size > largest) refuse(file, fmt::format("{} bytes, more than {}", size, largest), "get it again");
    return static_cast<std::size_t>(size);
}

void refuse_impostor(fs::path const& file, std::string_view text) {
    if (text.starts_with("version https://git-lfs")) {
        refuse(file, "a Git LFS pointer",
               "run \"git lfs pull\" where it came from, or download the file itself");
    }
    if (text.starts_with('<')) refuse(file, "a web page", "download the file itself");
}

}  // namespace

std::string read_text_file(fs::path const& file, std::size_t largest) {
    std::string text(size_of(file, largest), '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in) refuse(file, "a file that cannot be opened", "make it readable");
    if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
        refuse(file, "a file that cannot be read to its end", "try again, or get it again");
    }
    refuse_impostor(file, text);
    return text;
}

}  // namespace onehead
