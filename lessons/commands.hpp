// The commands with which a reader checks what a lesson says: with the lesson's own options filled in, ready
// to be pasted into a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/run_options.hpp"

namespace onehead {

class Commands {
public:
    // `lesson` is the program as it was called, from which `onehead` is found.
    Commands(std::string_view lesson, Given const& given);

    std::string onehead(std::string_view arguments) const;       // without options of a run
    std::string on_this_run(std::string_view arguments) const;   // with the model, text, head and row
    std::string on_this_text(std::string_view arguments) const;  // with the model and the text, for all heads
    std::string on_tokens(std::string_view arguments,
                          std::vector<int> const& ids) const;  // another text, all heads
    std::string on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const;

private:
    std::string program_, model_, text_, head_, row_;
};

// A word of a command, in quotes if a shell would take it for something else.
std::string shell_word(std::string_view text);

}  // namespace onehead
