#include "cli/start.hpp"

#include <csignal>

#include "math/large_pages.hpp"

namespace onehead {

void start_program() {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond a limit is an error like a full disk
    use_large_pages();
}

}  // namespace onehead
