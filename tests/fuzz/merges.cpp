// merges.txt alone: no lines, however odd, lead the merging of a text astray. Two symbols that merge become
// one that stands for the bytes of both.
#include "onehead/model/tokenizer.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    auto const path = fuzz::folder().write("merges.txt", fuzz::take_part(rest));
    fuzz::works([&] {
        Merges const merges(path);
        merges.check();
        std::vector<int> symbols;
        BytePairs(merges).encode(rest, symbols);
        std::string together;
        for (int const symbol : symbols) together += bytes_of(merges.characters(symbol)).value();
        fuzz::promise(together == rest);
    });
    return 0;
}
