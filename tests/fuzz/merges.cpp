// merges.txt alone: no lines, however odd, lead the merging of a text astray. Two symbols that merge become
// one that stands for the bytes of both.
#include "onehead/model/tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "target.hpp"

namespace {

// A vocabulary with an id for each byte and for what each line makes.
std::string vocabulary_for(std::string const& merges) {
    nlohmann::json ids = nlohmann::json::object();
    for (int byte = 0; byte < 256; ++byte)
        ids[onehead::in_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
    std::istringstream lines(merges);
    for (std::string line; std::getline(lines, line);) {
        std::erase(line, ' ');
        if (onehead::bytes_of(line) && !ids.contains(line)) ids[line] = ids.size();
    }
    return ids.dump();
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    std::string_view rest = bytes;
    std::string const merges = fuzz::take_part(rest);
    fuzz::folder().write("merges.txt", merges);
    fuzz::folder().write("vocab.json", vocabulary_for(merges));
    fuzz::works([&] {
        Tokenizer const tokenizer(fuzz::folder().path());
        fuzz::works([&] { fuzz::promise(tokenizer.decode(tokenizer.encode(rest)) == rest); });
    });
    return 0;
}
