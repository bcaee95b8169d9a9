// What goes wrong at the border: a file, a request, a disk. Every message is one line that says where, what
// was expected, what was found and what to do:
//
//     throw Error({.where = "config.json: n_head", .expected = "a number that divides 768", .found = "7",
//                  .advice = "get the file again"});
//     config.json: n_head: expected a number that divides 768, found 7; get the file again
//
// Each program catches these in one place and turns them into its exit code. What a caller in C++ got wrong
// (shapes that do not fit) is a std::invalid_argument instead.
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>

namespace onehead {

struct Complaint {
    std::string where{};  // the file, then the tensor, key, line or column in it
    std::string expected{};
    std::string found{};   // without `expected`, all that is wrong: "cannot be opened: Permission denied"
    std::string advice{};  // what to do about it
};

std::string sentence(Complaint const& complaint);

// Bad data or a failed write: exit code 1.
class Error : public std::runtime_error {
public:
    explicit Error(Complaint const& complaint) : std::runtime_error(sentence(complaint)) {}

    // A whole message. (A template, so that braces can only mean a Complaint.)
    template <std::convertible_to<std::string> Text>
    explicit Error(Text const& message) : std::runtime_error(message) {}
};

// Wrong use (a head out of range, an empty text): exit code 2.
class UsageError : public Error {
public:
    using Error::Error;

    // What is wrong with a field of the request, such as "head". The message begins with its name, and a
    // program that has another name for the field (an option) puts that in its place:
    //
    //     throw UsageError("head", {.expected = "a head from 0 to 11", .found = "12"});
    UsageError(std::string field, Complaint complaint);

    std::string const& field() const { return field_; }  // empty if it is about none

private:
    std::string field_;
};

}  // namespace onehead
