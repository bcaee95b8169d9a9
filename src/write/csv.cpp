#include "write/csv.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <iterator>

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

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string quoted = "\"";
    for (char const c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string step_csv(Step const& step, Tokens const& tokens) {
    std::string csv = "pos,token_id,token";
    csv.reserve(step.values.size() * 12);
    add_column_names(csv, step, tokens);
    csv += "\n";
    for (std::size_t i = 0; i < row_count(step.values); ++i) {
        if (step.term.rows == "1")
            csv += ",,";  // a row that belongs to no position
        else
            add_position(csv, i, tokens[i]);
        for (float const value : row(step.values, i))
            fmt::format_to(std::back_inserter(csv), FMT_COMPILE(",{}"), value);
        csv += "\n";
    }
    return csv;
}

std::string tidy_csv(Step const& step, Tokens const& tokens) {
    std::string csv = "query_pos,query,key_pos,key,value\n";
    for (std::size_t i = 0; i < row_count(step.values); ++i)
        for (std::size_t j = 0; j < column_count(step.values); ++j)
            fmt::format_to(std::back_inserter(csv), "{},{},{},{},{}\n", i, csv_field(label(tokens[i].bytes)),
                           j, csv_field(label(tokens[j].bytes)), step.values(i, j));
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
