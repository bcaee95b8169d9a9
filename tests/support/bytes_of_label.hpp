// Undoes the escapes of a label, the other way round than src/onehead/io/text.cpp makes them: a plain reading
// of the table there.
#pragma once

#include <string>

namespace onehead::test {

inline std::string utf8(unsigned long value) {
    auto const byte = [](unsigned long bits) { return static_cast<char>(bits); };
    if (value < 0x80) return {byte(value)};
    if (value < 0x800) return {byte(0xC0 | value >> 6), byte(0x80 | (value & 63))};
    if (value < 0x10000)
        return {byte(0xE0 | value >> 12), byte(0x80 | (value >> 6 & 63)), byte(0x80 | (value & 63))};
    return {byte(0xF0 | value >> 18), byte(0x80 | (value >> 12 & 63)), byte(0x80 | (value >> 6 & 63)),
            byte(0x80 | (value & 63))};
}

inline std::string bytes_of_label(std::string const& label) {
    std::string bytes;
    for (std::size_t at = 1; at + 1 < label.size(); ++at) {
        if (label[at] != '\\') {
            bytes += label[at];
            continue;
        }
        char const kind = label[++at];
        if (kind == 'x') {
            bytes += static_cast<char>(std::stoul(label.substr(at + 1, 2), nullptr, 16));
            at += 2;
        } else if (kind == 'u') {
            std::size_t const end = label.find('}', at);
            bytes += utf8(std::stoul(label.substr(at + 2, end - at - 2), nullptr, 16));
            at = end;
        } else {
            bytes += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind;
        }
    }
    return bytes;
}

}  // namespace onehead::test
