#include "onehead/error.hpp"

#include <utility>

namespace onehead {

std::string sentence(Complaint const& complaint) {
    auto const& [where, expected, found, advice] = complaint;
    std::string text = where;
    if (!where.empty()) text += ": ";
    if (!expected.empty()) text += "expected " + expected;
    if (!expected.empty() && !found.empty()) text += ", found ";
    text += found;
    if (!advice.empty()) text += "; " + advice;
    return text;
}

namespace {

Complaint about(std::string const& field, Complaint complaint) {
    complaint.where = complaint.where.empty() ? field : field + ": " + complaint.where;
    return complaint;
}

}  // namespace

UsageError::UsageError(std::string field, Complaint complaint)
    : Error(about(field, std::move(complaint))), field_(std::move(field)) {}

}  // namespace onehead
