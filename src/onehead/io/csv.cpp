#include "onehead/io/csv.hpp"

#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/system.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

CsvReader::CsvReader(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}

bool CsvReader::next() {
    if (at_ == text_.size()) return false;
    line_ = next_line_;
    fields_.clear();
    fields_.push_back(read_field());
    while (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        fields_.push_back(read_field());
    }
    end_record();
    return true;
}

void CsvReader::expect_next(std::string_view what) {
    if (next()) return;
    line_ = next_line_;
    refuse(0, what, "the end of the file");
}

void CsvReader::expect_end() {
    if (next()) refuse(0, "the end of the file", quote(fields_.front()));
}

void CsvReader::expect_count(std::size_t count) const {
    if (fields_.size() == count) return;
    refuse(std::min(count, fields_.size()), fmt::format("{} fields", count), std::to_string(fields_.size()));
}

void CsvReader::expect(std::size_t column, std::string_view text) const {
    std::string const& field = fields_.at(column);
    if (field != text) refuse(column, quote(text), quote(field));
}

float CsvReader::number(std::size_t column, bool may_be_minus_infinity) const {
    auto const value = parse_float(fields_.at(column));
    if (value && (std::isfinite(*value) || may_be_minus_infinity)) return *value;
    refuse(column, may_be_minus_infinity ? "a float32 or -inf" : "a finite float32",
           quote(fields_.at(column)));
}

void CsvReader::refuse(std::size_t column, std::string_view expected, std::string_view found) const {
    throw Error({fmt::format("{}: line {}, column {}", name_, line_, column + 1), std::string{expected},
                 std::string{found}, "the file was changed or cut short: write the trace again"});
}

std::string CsvReader::read_field() {
    return at_ < text_.size() && text_[at_] == '"' ? read_quoted_field() : read_plain_field();
}

std::string CsvReader::read_plain_field() {
    std::size_t const end = std::min(text_.find_first_of(",\"\r\n", at_), text_.size());
    std::string field = text_.substr(at_, end - at_);
    at_ = end;
    if (at_ < text_.size() && text_[at_] == '"')
        refuse(fields_.size(), "a field that is in quotes as a whole or has none", "a quote within it");
    return field;
}

std::string CsvReader::read_quoted_field() {
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
        bool const doubled = text_[at_] == '"' && text_.compare(at_, 2, "\"\"") == 0;
        if (text_[at_] == '"' && !doubled) {
            ++at_;
            return field;
        }
        if (doubled) ++at_;
        if (text_[at_] == '\n') ++next_line_;
        field += text_[at_];
    }
    refuse(fields_.size(), "a closing quote", "the end of the file");
}

void CsvReader::end_record() {
    if (text_.compare(at_, 2, "\r\n") == 0) ++at_;
    if (at_ == text_.size()) refuse(fields_.size() - 1, "a line break", "the end of the file");
    if (text_[at_] != '\n')
        refuse(fields_.size() - 1, "a comma or a line break after the field", quote(text_.substr(at_, 1)));
    ++at_;
    ++next_line_;
}

std::optional<float> parse_float(std::string_view text) {
    if (text == "-inf") return -std::numeric_limits<float>::infinity();
    auto const value = read_float(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace onehead
