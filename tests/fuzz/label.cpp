// The label of any bytes: plain, in single quotes, and undoing its escapes gives the bytes back.
#include "onehead/trace/trace.hpp"
#include "support/bytes_of_label.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const bytes = fuzz::text_of(data, size);
    std::string const shown = label(bytes);
    fuzz::promise(fuzz::is_plain(shown) && shown.size() >= 2);
    fuzz::promise(shown.front() == '\'' && shown.back() == '\'');
    fuzz::promise(test::bytes_of_label(shown) == bytes);
    fuzz::promise(display_width(shown) >= 2);
    return 0;
}
