#include "write/csv.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <vector>

namespace onehead {
namespace {

void add_column_names(std::string& csv, Step const& step, Tokens const& tokens) {
    auto const out = std::back_inserter(csv);
    for (std::size_t j = 0; j < column_count(step.values); ++j)
        if (pairs_positions(step.term))
            fmt::format_to(out, ",{}", csv_field(fmt::format("key{} {}", j, label(tokens[j].bytes))));
        else
            fmt::format_to(out, ",d{}", j);
}

void add_position(std::string& csv, std::size_t pos, Token const& token) {
    fmt::format_to(std::back_inserter(csv), "{},{},{}", pos, token.id, csv_field(label(token.bytes)));
}

constexpr std::size_t longest_number = std::string_view(",-1234567900000000").size();

// Writes ",1,2.5" and the like from `place` on, where there is room, and returns the end.
char* add_numbers(char* place, std::span<float const> values) {
    for (float const value : values) place = fmt::format_to(place, FMT_COMPILE(",{}"), value);
    return place;
}

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string quoted = "\"";
    for (char const c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

void write_step_csv(Step const& step, Tokens const& tokens, Sink const& out) {
    constexpr std::size_t piece = std::size_t{1} << 18;  // bytes: small enough to stay in the cache
    std::string csv = "pos,token_id,token";
    add_column_names(csv, step, tokens);
    csv += "\n";
    std::vector<char> numbers(column_count(step.values) * longest_number);
    for (std::size_t i = 0; i < row_count(step.values); ++i) {
        if (step.term.rows == "1")
            csv += ",,";  // a row that belongs to no position
        else
            add_position(csv, i, tokens[i]);
        csv.append(numbers.data(), add_numbers(numbers.data(), row(step.values, i)));
        csv += "\n";
        if (csv.size() < piece) continue;
        out(csv);
        csv.clear();
    }
    out(csv);
}

std::string tidy_csv(Step const& step, Tokens const& tokens) {
    std::vector<std::string> labels;
    for (Token const& token : tokens) labels.push_back(csv_field(label(token.bytes)));
    std::string csv = "query_pos,query,key_pos,key,value\n";
    for (std::size_t i = 0; i < row_count(step.values); ++i)
        for (std::size_t j = 0; j < column_count(step.values); ++j)
            fmt::format_to(std::back_inserter(csv), FMT_COMPILE("{},{},{},{},{}\n"), i, labels[i], j,
                           labels[j], step.values(i, j));
    return csv;
}

std::string tokens_csv(Tokens const& tokens) {
    std::string csv = "pos,token_id,token,bytes\n";
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        add_position(csv, i, tokens[i]);
        csv += ",";
        for (char const byte : tokens[i].bytes)
            fmt::format_to(std::back_inserter(csv), "{:02x}", static_cast<unsigned char>(byte));
        csv += "\n";
    }
    return csv;
}

}  // namespace onehead
