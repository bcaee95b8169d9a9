// A regular expression over UTF-8 text that knows Unicode's properties: as much of PCRE2 as this project
// needs, which is to ask whether the expression matches at one place.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

struct pcre2_real_code_8;

namespace onehead {

class Regex {
public:
    explicit Regex(std::string_view pattern);

    // How many bytes the match takes that begins exactly at `at`; 0 if there is none. The text must be valid
    // UTF-8 and `at` the beginning of a code point. May be called from several threads.
    std::size_t match_length(std::string_view text, std::size_t at) const;

private:
    std::shared_ptr<pcre2_real_code_8 const> code_;
};

}  // namespace onehead
