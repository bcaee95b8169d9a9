#include "onehead/io/npy.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <regex>
#include <span>
#include <string_view>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in memory");

constexpr std::size_t longest_header = 4096;  // numpy needs 118 bytes for any shape of up to 4 dimensions

[[noreturn]] void refuse(std::string const& name, std::string_view expected, std::string_view found) {
    throw Error(fmt::format("{}: expected {}, found {}", name, expected, found));
}

// Takes the next bytes off the front of the file.
std::string_view take(std::string_view& rest, std::size_t count, std::string const& name) {
    if (rest.size() < count)
        refuse(name, "a .npy file, from numpy.save", fmt::format("one that ends within its header"));
    auto const bytes = rest.substr(0, count);
    rest.remove_prefix(count);
    return bytes;
}

std::string take_header(std::string_view& rest, std::string const& name) {
    if (!rest.starts_with("\x93NUMPY"))
        refuse(name, "a .npy file, from numpy.save", "one that begins with " + quote(rest.substr(0, 8)));
    take(rest, 6, name);
    auto const version = take(rest, 2, name);
    if (version[0] < 1 || version[0] > 3 || version[1] != 0)
        refuse(name, ".npy version 1.0, 2.0 or 3.0", fmt::format("{}.{}", +version[0], +version[1]));
    std::size_t length = 0;
    std::size_t unit = 1;
    for (char const digit : take(rest, version[0] == 1 ? 2 : 4, name)) {
        length += unit * static_cast<unsigned char>(digit);
        unit *= 256;
    }
    if (length > longest_header)
        refuse(name, fmt::format("a header of at most {} bytes", longest_header), std::to_string(length));
    return std::string{take(rest, length, name)};
}

// "6, 64" or "6," to {6, 64} or {6}, given that the numbers fit into what the file holds.
std::vector<std::size_t> parse_shape(std::string const& text, std::size_t most, std::string const& name) {
    std::vector<std::size_t> shape;
    std::size_t count = 1;
    static std::regex const digits{"[0-9]+"};
    for (std::sregex_iterator it{text.begin(), text.end(), digits}, end; it != end; ++it) {
        std::string const number = it->str();
        std::size_t size = 0;
        auto const [_, error] = std::from_chars(number.data(), number.data() + number.size(), size);
        if (error != std::errc{} || size == 0 || size > most / count)
            refuse(name, fmt::format("a shape of 1 to {} numbers, as many as the file holds", most),
                   fmt::format("({})", text));
        count *= size;
        shape.push_back(size);
    }
    if (shape.empty() || shape.size() > 4)
        refuse(name, "an array of 1 to 4 dimensions", fmt::format("shape ({})", text));
    return shape;
}

// What the first bytes say: the array but for its numbers, and where these begin.
struct Layout {
    Array array;
    std::size_t begin = 0;
    std::size_t bytes = 0;  // of all numbers
};

Layout read_layout(std::string_view start, std::size_t file_size, std::string const& name) {
    std::string_view rest = start;
    std::string const header = take_header(rest, name);
    static std::regex const form{
        R"(\{ ?'descr': ?'([^']*)', ?'fortran_order': ?(True|False), ?'shape': ?\(([0-9, ]*)\),? ?\} *\n?)"};
    std::smatch parts;
    if (!std::regex_match(header, parts, form))
        refuse(name, "a header such as {'descr': '<f4', 'fortran_order': False, 'shape': (6, 64), }",
               quote(header));
    std::string const dtype = parts[1];
    if (dtype != "<f4" && dtype != "<f8")
        refuse(name, "float32 ('<f4') or float64 ('<f8')",
               quote(dtype) + "; save a.astype(numpy.float32) instead");
    if (parts[2] == "True")
        refuse(name, "row-major order", "Fortran order; save numpy.ascontiguousarray(a) instead");
    Layout layout{{.shape = {}, .values = {}, .is_float32 = dtype == "<f4"}, start.size() - rest.size(), 0};
    std::size_t const width = layout.array.is_float32 ? sizeof(float) : sizeof(double);
    layout.array.shape = parse_shape(parts[3], (file_size - layout.begin) / width, name);
    layout.bytes = width;
    for (std::size_t const size : layout.array.shape) layout.bytes *= size;
    if (file_size - layout.begin != layout.bytes)
        refuse(name, fmt::format("{} bytes of numbers for shape ({})", layout.bytes, parts[3].str()),
               std::to_string(file_size - layout.begin));
    return layout;
}

// `read` fills bytes with those of the numbers.
template <typename Number, typename Read>
std::vector<double> read_numbers(std::size_t bytes, Read const& read) {
    std::vector<Number> numbers(bytes / sizeof(Number));
    read(std::as_writable_bytes(std::span(numbers)));
    return {numbers.begin(), numbers.end()};
}

template <typename Read>
Array with_numbers(Layout layout, Read const& read) {
    layout.array.values = layout.array.is_float32 ? read_numbers<float>(layout.bytes, read)
                                                  : read_numbers<double>(layout.bytes, read);
    return std::move(layout.array);
}

}  // namespace

Array read_npy(std::filesystem::path const& path, std::size_t most_bytes) {
    File const file(path);
    std::string start(std::min<std::uint64_t>(file.size(), longest_header + 12), '\0');
    file.read(0, std::as_writable_bytes(std::span(start)));
    Layout layout = read_layout(start, file.size(), file.name());
    if (layout.bytes > most_bytes)
        refuse(file.name(), fmt::format("at most {} bytes of numbers", most_bytes),
               std::to_string(layout.bytes));
    std::size_t const begin = layout.begin;
    return with_numbers(std::move(layout), [&](std::span<std::byte> bytes) { file.read(begin, bytes); });
}

Array parse_npy(std::string const& bytes, std::string const& name) {
    Layout layout = read_layout(std::string_view{bytes}.substr(0, longest_header + 12), bytes.size(), name);
    std::size_t const begin = layout.begin;
    return with_numbers(std::move(layout), [&](std::span<std::byte> numbers) {
        std::memcpy(numbers.data(), &bytes[begin], numbers.size());
    });
}

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

std::string npy(Matrix const& values) {
    std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                                     row_count(values), column_count(values));
    // Magic, version and length take 10 bytes; the whole is padded so that the data begins at a multiple
    // of 64.
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    std::string file{"\x93NUMPY\x01\x00", 8};
    file += static_cast<char>(header.size() % 256);
    file += static_cast<char>(header.size() / 256);
    file += header;
    file.append(reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float));
    return file;
}

}  // namespace onehead
