#include "load/step_csv.hpp"

#include <fmt/format.h>
#include <charconv>
#include <string>

#include "error.hpp"
#include "load/csv.hpp"
#include "load/file.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

constexpr std::size_t largest_tokens = std::size_t{1} << 24;
constexpr std::size_t first_number = 3;  // after pos, token_id and token

void expect_all(CsvReader const& csv, std::vector<std::string> const& texts) {
    csv.expect_count(texts.size());
    for (std::size_t column = 0; column < texts.size(); ++column) csv.expect(column, texts[column]);
}

std::vector<std::string> header(Term const& term, Tokens const& tokens, std::size_t columns) {
    std::vector<std::string> names{"pos", "token_id", "token"};
    for (std::size_t j = 0; j < columns; ++j)
        names.push_back(pairs_positions(term) ? fmt::format("key{} {}", j, label(tokens[j].bytes))
                                              : fmt::format("d{}", j));
    return names;
}

void expect_position(CsvReader const& csv, std::size_t pos, int id) {
    csv.expect(0, std::to_string(pos));
    csv.expect(1, std::to_string(id));
}

// The first three fields of row i.
void expect_row_name(CsvReader const& csv, Term const& term, Tokens const& tokens, std::size_t i) {
    if (term.rows == "1") {
        for (std::size_t column = 0; column < first_number; ++column) csv.expect(column, "");
        return;
    }
    expect_position(csv, i, tokens[i].id);
    csv.expect(2, label(tokens[i].bytes));
}

std::string parse_hex(CsvReader const& csv, std::size_t column) {
    std::string const& hex = csv.fields()[column];
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
        unsigned char byte = 0;
        auto const [end, error] = std::from_chars(&hex[at], &hex[at] + 2, byte, 16);
        if (error != std::errc{} || end != &hex[at] + 2) break;
        bytes += static_cast<char>(byte);
    }
    if (bytes.empty() || 2 * bytes.size() != hex.size())
        csv.refuse(column, "bytes in hex, two digits each", quote(hex));
    return bytes;
}

// The bytes that the table can have: at most 32 for a number and what separates it, and each label, with its
// quotes doubled, in a row's and in a column's name.
std::size_t most_bytes(Tokens const& tokens, std::size_t rows, std::size_t columns) {
    std::size_t names = 64 * (rows + columns + 1);
    for (Token const& token : tokens) names += 4 * label(token.bytes).size();
    return names + 32 * rows * columns;
}

}  // namespace

Matrix read_step_csv(std::filesystem::path const& path, Term const& term, Tokens const& tokens,
                     std::size_t rows, std::size_t columns) {
    std::string text = read_text(path, most_bytes(tokens, rows, columns));
    std::size_t const least = 2 * rows * columns;  // a digit and a separator for each number
    if (text.size() < least)
        throw Error(
            fmt::format("{}: expected at least {} bytes for shape [{}, {}], found {}: write the "
                        "trace again",
                        path.string(), least, rows, columns, text.size()));
    CsvReader csv{std::move(text), path.string()};
    csv.expect_next("the names of the columns");
    expect_all(csv, header(term, tokens, columns));
    Matrix values = make_matrix(rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        csv.expect_next(fmt::format("row {}", i));
        csv.expect_count(first_number + columns);
        expect_row_name(csv, term, tokens, i);
        for (std::size_t j = 0; j < columns; ++j)
            values(i, j) = csv.number(first_number + j, term == terms::masked_scores);
    }
    csv.expect_end();
    return values;
}

Tokens read_tokens_csv(std::filesystem::path const& path, std::vector<int> const& ids) {
    CsvReader csv{read_text(path, largest_tokens), path.string()};
    csv.expect_next("the names of the columns");
    expect_all(csv, {"pos", "token_id", "token", "bytes"});
    Tokens tokens;
    for (int const id : ids) {
        csv.expect_next(fmt::format("token {}", tokens.size()));
        csv.expect_count(4);
        expect_position(csv, tokens.size(), id);
        tokens.push_back({id, parse_hex(csv, 3)});
        csv.expect(2, label(tokens.back().bytes));
    }
    csv.expect_end();
    return tokens;
}

}  // namespace onehead
