#include "load/text_file.hpp"

#include <fmt/format.h>
#include <string_view>

#include "error.hpp"
#include "load/file.hpp"

namespace onehead {
namespace {

[[noreturn]] void refuse(std::filesystem::path const& file, std::string_view found, std::string_view advice) {
    throw Error(
        fmt::format("{}: expected a text file of a model, found {}; {}", file.string(), found, advice));
}

}  // namespace

std::string read_text_file(std::filesystem::path const& file, std::size_t largest) {
    std::string text = read_text(file, largest);
    if (text.empty()) refuse(file, "an empty file", "get it again");
    if (text.starts_with("version https://git-lfs"))
        refuse(file, "a Git LFS pointer",
               "run \"git lfs pull\" where it came from, or download the file itself");
    if (text.starts_with('<')) refuse(file, "a web page", "download the file itself");
    return text;
}

}  // namespace onehead
