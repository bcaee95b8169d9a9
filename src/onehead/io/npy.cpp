#include "onehead/io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "onehead/io/safetensors.hpp"
#include "onehead/io/text.hpp"

namespace onehead {

static_assert(std::endian::native == std::endian::little,
              "numbers are read and written as they lie in memory");

namespace {

constexpr std::size_t longest_npy_header = 4096;  // numpy needs 118 bytes for any shape of up to 4 dimensions
constexpr std::size_t longest_start = longest_npy_header + 12;
constexpr std::size_t most_npy_dimensions = 4;

// What the first bytes say: the array but for its numbers, and where these are.
struct Layout {
    Array array;
    bool fortran_order = false;
    std::size_t begin = 0;
    std::size_t bytes = 0;  // of all numbers
};

Layout read_layout(std::string_view start, std::size_t file_size, std::string const& name);

// The numbers of a layout; `read` fills bytes with those of the file after the header.
Array with_numbers(Layout layout, std::function<void(std::span<std::byte>)> const& read);

}  // namespace

Array read_npy(std::filesystem::path const& path, std::size_t most_bytes) {
    return read_npy(File(path), most_bytes);
}

Array read_npy(File const& file, std::size_t most_bytes) {
    std::string start(std::min<std::uint64_t>(file.size(), longest_start), '\0');
    file.read(0, std::as_writable_bytes(std::span(start)));
    Layout layout = read_layout(start, file.size(), file.name());
    if (layout.bytes > most_bytes)
        throw Error({file.name(), fmt::format("at most {} bytes of numbers", most_bytes),
                     std::to_string(layout.bytes)});
    std::size_t const begin = layout.begin;
    return with_numbers(std::move(layout), [&](std::span<std::byte> bytes) { file.read(begin, bytes); });
}

Array parse_npy(std::string const& bytes, std::string const& name) {
    Layout layout = read_layout(std::string_view{bytes}.substr(0, longest_start), bytes.size(), name);
    std::size_t const begin = layout.begin;
    return with_numbers(std::move(layout), [&](std::span<std::byte> numbers) {
        std::memcpy(numbers.data(), &bytes[begin], numbers.size());
    });
}

namespace {

// The header is a dictionary as Python prints it. This reads it piece by piece.
class Header {
public:
    Header(std::string_view text, std::string const& name) : text_(text), rest_(text), name_(name) {}

    // Calls `value` at the value of each key.
    void read(std::function<void(std::string const& key)> const& value) {
        expect('{');
        while (!take('}')) {
            std::string const key = text();
            expect(':');
            value(key);
            if (!take(',') && !next_is('}')) refuse();
        }
        if (skip_space(), !rest_.empty()) refuse();
    }

    std::string text() {
        skip_space();
        char const quote = rest_.empty() ? '\0' : rest_[0];
        std::size_t const end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : rest_.npos;
        if (end == rest_.npos) refuse();
        std::string text{rest_.substr(1, end - 1)};
        rest_.remove_prefix(end + 1);
        return text;
    }

    bool truth() {
        skip_space();
        for (auto const& [word, value] : {std::pair{"True", true}, {"False", false}})
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(std::string_view{word}.size());
                return value;
            }
        refuse();
    }

    std::vector<std::size_t> tuple() {
        std::vector<std::size_t> numbers;
        expect('(');
        while (!take(')')) {
            skip_space();
            std::size_t number = 0;
            auto const [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
            if (error != std::errc{}) refuse();
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            numbers.push_back(number);
            if (!take(',') && !next_is(')')) refuse();
        }
        return numbers;
    }

    [[noreturn]] void refuse() const {
        throw Error({name_, "a header such as {'descr': '<f4', 'fortran_order': False, 'shape': (6, 64), }",
                     quote(text_)});
    }

private:
    void skip_space() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
    }

    bool next_is(char c) {
        skip_space();
        return rest_.starts_with(c);
    }

    bool take(char c) {
        if (!next_is(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!take(c)) refuse();
    }

    std::string_view text_, rest_;
    std::string const& name_;
};

// Takes the next bytes off the front of the file.
std::string_view take(std::string_view& rest, std::size_t count, std::string const& name) {
    if (rest.size() < count)
        throw Error({name, "a .npy file, from numpy.save", "one that ends within its header"});
    auto const bytes = rest.substr(0, count);
    rest.remove_prefix(count);
    return bytes;
}

std::string_view take_header(std::string_view& rest, std::string const& name) {
    constexpr std::string_view magic = "\x93NUMPY";
    if (!rest.starts_with(magic))
        throw Error(
            {name, "a .npy file, from numpy.save", "one that begins with " + quote(rest.substr(0, 8))});
    take(rest, magic.size(), name);
    auto const version = take(rest, 2, name);
    if (version[0] < 1 || version[0] > 3 || version[1] != 0)
        throw Error({name, ".npy version 1.0, 2.0 or 3.0", fmt::format("{}.{}", +version[0], +version[1])});
    std::size_t length = 0;
    std::size_t unit = 1;
    for (char const digit : take(rest, version[0] == 1 ? 2 : 4, name)) {
        length += unit * static_cast<unsigned char>(digit);
        unit *= 256;
    }
    if (length > longest_npy_header)
        throw Error(
            {name, fmt::format("a header of at most {} bytes", longest_npy_header), std::to_string(length)});
    return take(rest, length, name);
}

// numpy's name of a type, ours, and the bytes of a number.
struct Stored {
    std::string_view descr, dtype;
    std::size_t width = 0;
};

constexpr std::array stored_types{Stored{"<f2", "F16", 2}, Stored{"<f4", "F32", 4}, Stored{"<f8", "F64", 8}};

Stored const& find_type(std::string const& descr, std::string const& name) {
    auto const* const found = std::ranges::find(stored_types, descr, &Stored::descr);
    if (found != stored_types.end()) return *found;
    throw Error({name, "float16, float32 or float64, little-endian ('<f2', '<f4', '<f8')", quote(descr),
                 "save a.astype(numpy.float32) instead"});
}

// The bytes of all numbers. No product of a shape overflows: each factor is held against what is left.
std::size_t count_bytes(std::vector<std::size_t> const& shape, std::size_t width, std::size_t most,
                        std::string const& name) {
    std::string const found = fmt::format("shape ({})", fmt::join(shape, ", "));
    if (shape.empty() || shape.size() > most_npy_dimensions)
        throw Error({name, "an array of 1 to 4 dimensions", found});
    std::size_t bytes = width;
    for (std::size_t const size : shape) {
        if (size == 0 || size > most / bytes)
            throw Error({name, fmt::format("{} bytes of numbers, as many as the file holds", most), found});
        bytes *= size;
    }
    if (bytes != most)
        throw Error({name, fmt::format("{} bytes of numbers for {}", bytes, found), std::to_string(most)});
    return bytes;
}

Layout read_layout(std::string_view start, std::size_t file_size, std::string const& name) {
    std::string_view rest = start;
    Header header{take_header(rest, name), name};
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::size_t>> shape;
    header.read([&](std::string const& key) {
        if (key == "descr" && !descr) {
            descr = header.text();
        } else if (key == "fortran_order" && !fortran_order) {
            fortran_order = header.truth();
        } else if (key == "shape" && !shape) {
            shape = header.tuple();
        } else {
            header.refuse();
        }
    });
    if (!descr || !fortran_order || !shape) header.refuse();
    Stored const& type = find_type(*descr, name);
    Layout layout;
    layout.begin = start.size() - rest.size();
    layout.bytes = count_bytes(*shape, type.width, file_size - layout.begin, name);
    layout.fortran_order = *fortran_order;
    layout.array.dtype = type.dtype;
    layout.array.shape = std::move(*shape);
    return layout;
}

template <class Number, class Read>
std::vector<Number> read_numbers(std::size_t bytes, Read const& read) {
    std::vector<Number> numbers(bytes / sizeof(Number));
    read(std::as_writable_bytes(std::span(numbers)));
    return numbers;
}

std::vector<double> as_doubles(std::string_view dtype, std::size_t bytes,
                               std::function<void(std::span<std::byte>)> const& read) {
    if (dtype == "F64") return read_numbers<double>(bytes, read);
    std::vector<float> floats;
    if (dtype == "F32") {
        floats = read_numbers<float>(bytes, read);
    } else {
        auto const halves = read_numbers<std::uint16_t>(bytes, read);
        floats.resize(halves.size());
        widen_f16(halves, floats);
    }
    return {floats.begin(), floats.end()};
}

// In Fortran's order the first index runs fastest.
std::vector<double> row_major(std::vector<double> const& values, std::vector<std::size_t> const& shape) {
    std::vector<double> ordered(values.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
        std::size_t rest = at;
        std::size_t place = 0;
        std::size_t step = values.size();
        for (std::size_t const size : shape) {
            step /= size;
            place += rest % size * step;
            rest /= size;
        }
        ordered[place] = values[at];
    }
    return ordered;
}

Array with_numbers(Layout layout, std::function<void(std::span<std::byte>)> const& read) {
    Array array = std::move(layout.array);
    array.values = as_doubles(array.dtype, layout.bytes, read);
    if (layout.fortran_order) array.values = row_major(array.values, array.shape);
    return array;
}

}  // namespace

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
