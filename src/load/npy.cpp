#include "load/npy.hpp"

#include <fmt/format.h>
#include <bit>
#include <charconv>
#include <cstring>
#include <regex>
#include <string_view>

#include "error.hpp"
#include "load/file.hpp"
#include "load/quote.hpp"

namespace onehead {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in memory");

constexpr std::size_t largest_file = std::size_t{1} << 28;
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

template <typename Number>
std::vector<double> parse_numbers(std::string_view bytes) {
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return {numbers.begin(), numbers.end()};
}

}  // namespace

Array read_npy(std::filesystem::path const& path) {
    return parse_npy(read_text(path, largest_file), path.string());
}

Array parse_npy(std::string const& bytes, std::string const& name) {
    std::string_view rest = bytes;
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
    Array array{.shape = {}, .values = {}, .is_float32 = dtype == "<f4"};
    std::size_t const width = array.is_float32 ? sizeof(float) : sizeof(double);
    array.shape = parse_shape(parts[3], rest.size() / width, name);
    std::size_t count = 1;
    for (std::size_t const size : array.shape) count *= size;
    if (rest.size() != count * width)
        refuse(name, fmt::format("{} bytes of numbers for shape ({})", count * width, parts[3].str()),
               std::to_string(rest.size()));
    array.values = array.is_float32 ? parse_numbers<float>(rest) : parse_numbers<double>(rest);
    return array;
}

}  // namespace onehead
