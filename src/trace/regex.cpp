// The expression is interpreted, not compiled to machine code: most texts are a sentence, over before that
// would pay.
#include "trace/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <string>

#include "error.hpp"

namespace onehead {

namespace {

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

std::string pcre2_message(int code) {
    std::string message(128, '\0');
    int const length =
        pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR*>(message.data()), message.size());
    message.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return message;
}

PCRE2_SPTR code_units(std::string_view text) {
    return reinterpret_cast<PCRE2_SPTR>(text.data());
}

pcre2_code* compile(std::string_view pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* const code = pcre2_compile(code_units(pattern), pattern.size(), PCRE2_UTF | PCRE2_ANCHORED,
                                           &error, &offset, nullptr);
    if (code != nullptr) return code;
    throw Error(fmt::format(
        "PCRE2 {}.{} does not take the expression {} at offset {}: {}; expected PCRE2 10.40 or later "
        "with Unicode",
        PCRE2_MAJOR, PCRE2_MINOR, pattern, offset, pcre2_message(error)));
}

pcre2_match_data* match_data_of_this_thread() {
    thread_local MatchData const data(pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
    return data.get();
}

}  // namespace

Regex::Regex(std::string_view pattern) : code_(compile(pattern), pcre2_code_free) {}

std::size_t Regex::match_length(std::string_view text, std::size_t at) const {
    // Without NO_UTF_CHECK each call would check the whole text.
    pcre2_match_data* const data = match_data_of_this_thread();
    int const result =
        pcre2_match(code_.get(), code_units(text), text.size(), at, PCRE2_NO_UTF_CHECK, data, nullptr);
    if (result == PCRE2_ERROR_NOMATCH) return 0;
    if (result < 0)
        throw Error(fmt::format("PCRE2 gives up at byte {} of a text: {}", at, pcre2_message(result)));
    return pcre2_get_ovector_pointer(data)[1] - at;
}

}  // namespace onehead
