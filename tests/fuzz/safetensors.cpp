// A .safetensors file: the bytes as they are, and once more with a right length before them, so that the
// header and the ranges are reached. Every tensor of a file that opens is read in every way.
#include "onehead/io/safetensors.hpp"

#include "support/safetensors_writer.hpp"
#include "target.hpp"

namespace {

using namespace onehead;

void read_all(Safetensors const& file, std::string const& name) {
    auto const& shape = file.at(name).shape;
    std::uint64_t const rows = shape.empty() ? 0 : shape[0];
    std::vector<std::size_t> const ends{rows - 1, 0};
    fuzz::works([&] { file.read_integers(name); });
    fuzz::works([&] { file.read_doubles(name); });
    fuzz::works([&] { file.read_vector(name, rows); });
    fuzz::works([&] { file.read_matrix(name, rows, shape.size() > 1 ? shape[1] : 1); });
    if (rows > 0 && rows <= 1000) fuzz::works([&] { file.read_rows(name, ends); });
    fuzz::works([&] { file.read_rows_from_to(name, 0, 1); });
}

void read_file(std::string const& bytes) {
    auto const path = fuzz::folder().write("a.safetensors", bytes);
    fuzz::works([&] {
        Safetensors const file(path);
        for (auto const& [name, _] : file.tensors()) read_all(file, name);
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const bytes = fuzz::text_of(data, size);
    read_file(bytes);
    std::string_view rest = bytes;
    std::string const header = fuzz::take_part(rest);
    read_file(test::with_header(header, std::string{rest}));
    return 0;
}
