#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <filesystem>

namespace onehead {
namespace {

// " --head 2 --row 1": those of the options that were given.
std::string repeat(Given const& given, std::vector<std::string> const& names) {
    std::string options;
    for (std::string const& name : names) {
        if (given.count(name) == 0) continue;
        std::string const text = value(given, name);
        options += fmt::format(" --{}{}{}", name, text.starts_with('-') ? "=" : " ", shell_word(text));
    }
    return options;
}

// Beside the lesson as built, in bin as installed; else the shell has to find it.
std::string find_onehead(std::string_view lesson) {
    auto const folder = std::filesystem::path{lesson}.parent_path();
    for (auto const& place : {folder / "onehead", folder / "../../bin/onehead"})
        if (!folder.empty() && std::filesystem::is_regular_file(place)) return place.string();
    return "onehead";
}

}  // namespace

Commands::Commands(std::string_view lesson, Given const& given)
    : program_(shell_word(find_onehead(lesson))),
      model_(repeat(given, {"model"})),
      text_(repeat(given, {"text", "text-file", "tokens"})),
      head_(repeat(given, {"layer", "head"})),
      row_(repeat(given, {"row"})) {}

std::string Commands::onehead(std::string_view arguments) const {
    return fmt::format("{} {}", program_, arguments);
}

std::string Commands::on_this_run(std::string_view arguments) const {
    return onehead(arguments) + model_ + text_ + head_ + row_;
}

std::string Commands::on_this_text(std::string_view arguments) const {
    return onehead(arguments) + model_ + text_;
}

std::string Commands::on_tokens(std::string_view arguments, std::vector<int> const& ids) const {
    return fmt::format("{}{} --tokens {}", onehead(arguments), model_, fmt::join(ids, ","));
}

std::string Commands::on_changed_word(std::size_t pos, std::string_view from, std::string_view to) const {
    if (from.starts_with(' ') && to.starts_with(' ')) to.remove_prefix(1);  // the word keeps that space
    return on_this_run("causality --change " + shell_word(fmt::format("{}={}", pos, to)));
}

std::string shell_word(std::string_view text) {
    constexpr auto harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-";
    if (!text.empty() && text.find_first_not_of(harmless) == std::string_view::npos) return std::string{text};
    std::string word = "'";
    for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

}  // namespace onehead
