// The message of the Error that a call throws, for tests of what it says. "" if it throws nothing.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "onehead/error.hpp"

namespace onehead::test {

template <class Call>
std::string message_of(Call const& call) {
    try {
        call();
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

// One line that holds all these words.
inline void check_message(std::string const& message, std::vector<std::string> const& words) {
    INFO("message: " << message);
    CHECK(message.find('\n') == std::string::npos);
    for (auto const& word : words) {
        INFO("expected in it: " << word);
        CHECK(message.find(word) != std::string::npos);
    }
}

}  // namespace onehead::test
