// An excerpt: its metadata, what it holds, and the weights and rows of each layer. The input is the header,
// a NUL, and the tensors' bytes.
#include "onehead/model/excerpt.hpp"

#include "support/safetensors_writer.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    std::string const header = fuzz::take_part(rest);
    auto const path = fuzz::folder().write("a.safetensors", test::with_header(header, std::string{rest}));
    fuzz::works([&] {
        Excerpt const excerpt(path);
        fuzz::promise(fuzz::is_plain(excerpt.name()));
        fuzz::works([&] { excerpt.embed(excerpt.own_tokens()); });
        for (std::size_t const layer : excerpt.layers()) {
            fuzz::works([&] { excerpt.attention(layer); });
            fuzz::works([&] { excerpt.hidden_states(layer); });
        }
    });
    return 0;
}
