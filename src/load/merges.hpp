// merges.txt: what training a byte pair encoding leaves behind. Each line names two symbols that become one
// where they meet; earlier lines go first. Symbols are numbered: the 256 bytes, then one for each line.
// Encoding asks one question all the time, whether two neighbours merge, and that is to look up a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onehead {

class Merges {
public:
    // Throws an Error if the file cannot be read, or is none that one could work with. What its lines say
    // is left to `check`.
    explicit Merges(std::filesystem::path const& file);

    // Throws an Error that names the line unless each line is two symbols with a space between them, each a
    // byte or made by an earlier line, and comes once.
    void check() const;

    std::string_view text() const { return text_; }  // as it was read, with LF alone at the end of every line
    int size() const;                                // 256 + the number of lines

    // The characters of a symbol, in GPT-2's alphabet.
    std::string characters(int symbol) const;

    // The symbol that two neighbours become, both given in GPT-2's alphabet; none if they do not merge.
    std::optional<int> merged(std::string_view left, std::string_view right) const;

private:
    static constexpr int n_bytes = 256;

    std::size_t n_lines() const { return begins_.size() - 1; }
    void insert(std::uint64_t hash);
    std::optional<std::size_t> find(std::string_view wanted) const;  // the index of a line
    std::string_view line(std::size_t index) const;

    std::filesystem::path file_;
    std::size_t first_line_ = 1;  // 2 after a line "#version: ..."
    std::string text_;
    std::vector<std::uint32_t>
        begins_;  // where each line begins in the text, and one more where the text ends
    std::vector<std::uint32_t> slots_;  // hash table of the lines: index of a line plus 1, or 0
};

}  // namespace onehead
