// GPT-2's tokenizer: decode(encode(s)) == s for every text that is UTF-8; any other is refused.
#include "onehead/model/tokenizer.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    static Tokenizer const tokenizer(ONEHEAD_SOURCE_DIR "/data/gpt2-mini");
    std::string const text = fuzz::text_of(data, size);
    bool const encoded = fuzz::works([&] {
        auto const ids = tokenizer.encode(text);
        fuzz::promise(tokenizer.decode(ids) == text);
        fuzz::promise(ids.size() <= text.size());
    });
    fuzz::promise(encoded == (find_invalid_utf8(text) == std::string::npos));
    return 0;
}
