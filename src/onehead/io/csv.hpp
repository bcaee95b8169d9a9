// CSV as RFC 4180 describes it, read strictly, one record after the other. A field in double quotes may hold
// commas, line breaks and quotes (each written twice). Every record ends in a line break, the last one too:
// without it nobody could tell 0.12 from a 0.125 that was cut off.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onehead {

// Every function throws an Error that names file, line and column, what was expected and what was found.
class CsvReader {
public:
    CsvReader(std::string text, std::string name);  // name: the file's, for messages

    // Goes to the next record; false at the end.
    bool next();
    void expect_next(std::string_view what);  // throws if there is no further record
    void expect_end();                        // throws if there is one

    std::vector<std::string> const& fields() const { return fields_; }
    void expect_count(std::size_t count) const;                          // of fields
    void expect(std::size_t column, std::string_view text) const;        // columns count from 0
    float number(std::size_t column, bool may_be_minus_infinity) const;  // a whole float32

    [[noreturn]] void refuse(std::size_t column, std::string_view expected, std::string_view found) const;

private:
    std::string read_field();
    std::string read_plain_field();
    std::string read_quoted_field();
    void end_record();

    std::string text_;
    std::string name_;
    std::size_t at_ = 0;         // the next byte
    std::size_t line_ = 0;       // where the record began, from 1
    std::size_t next_line_ = 1;  // where the next one begins
    std::vector<std::string> fields_;
};

// A number that takes up all of the text; nothing for any other text, a NaN or +inf.
std::optional<float> parse_float(std::string_view text);

}  // namespace onehead
