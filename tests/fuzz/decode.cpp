// Token ids, three bytes each, to text: those that the vocabulary has, and no other. Each token's label is
// plain.
#include "onehead/model/tokenizer.hpp"
#include "onehead/trace/trace.hpp"
#include "target.hpp"

namespace {

using namespace onehead;

std::vector<int> ids_of(std::string const& bytes) {
    std::vector<int> ids;
    for (std::size_t at = 0; at + 3 <= bytes.size(); at += 3) {
        int id = static_cast<signed char>(bytes[at]);
        for (char const next : bytes.substr(at + 1, 2)) id = id * 256 + static_cast<unsigned char>(next);
        ids.push_back(id);
    }
    return ids;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static Tokenizer const tokenizer(ONEHEAD_SOURCE_DIR "/data/gpt2-mini");
    std::string together;
    bool all_there = true;
    auto const ids = ids_of(fuzz::text_of(data, size));
    for (int const id : ids) {
        bool const there = fuzz::works([&] { together += tokenizer.bytes(id); });
        fuzz::promise(there == (id >= 0 && id < tokenizer.size()));
        if (there) fuzz::promise(fuzz::is_plain(label(tokenizer.bytes(id))));
        all_there = all_there && there;
    }
    std::string text;
    fuzz::promise(fuzz::works([&] { text = tokenizer.decode(ids); }) == all_there);
    if (all_there) fuzz::promise(text == together);
    return 0;
}
