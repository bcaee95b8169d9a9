// What a line of merges.txt must be. GPT-2's own file, known by its content, is not checked each time.
#include <fmt/format.h>

#include <unordered_set>

#include "error.hpp"
#include "load/byte_symbols.hpp"
#include "load/merges.hpp"
#include "trace/token.hpp"

namespace onehead {

namespace {

// Empty if the line is as it should be.
std::string expectation_missed(std::string_view line, std::unordered_set<std::string> const& symbols,
                               bool comes_again) {
    std::size_t const space = line.find(' ');
    bool const two_parts =
        space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos;
    if (!two_parts || space == 0 || space + 1 == line.size()) return "two symbols and one space between them";
    for (std::string_view const part : {line.substr(0, space), line.substr(space + 1)}) {
        if (!bytes_of(part)) return "characters of GPT-2's byte alphabet";
        if (!symbols.contains(std::string(part))) return "parts that are bytes or made by earlier lines";
    }
    return comes_again ? "each merge once" : "";
}

}  // namespace

void Merges::check() const {
    if (n_lines() == 0)
        throw Error(fmt::format("{}: expected merges, found none; get the file again", file_.string()));
    std::unordered_set<std::string> symbols;
    for (int byte = 0; byte < n_bytes; ++byte) symbols.emplace(byte_symbol(byte).characters);
    for (std::size_t i = 0; i < n_lines(); ++i) {
        bool const comes_again = find(line(i)) != i;
        std::string const expected = expectation_missed(line(i), symbols, comes_again);
        if (!expected.empty()) {
            throw Error(fmt::format(
                "{}, line {}: expected {}, found {}; get the file again from where the model came from",
                file_.string(), first_line_ + i, expected, label(line(i).substr(0, 80))));
        }
        symbols.insert(characters(n_bytes + static_cast<int>(i)));
    }
}

}  // namespace onehead
