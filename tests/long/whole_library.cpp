// A deep head of a model through the whole library, as the command runs it, without Boost, which a system has
// for one standard library only: whole_library MODEL LAYER TEXT FORMATS OUT
#include <string>

#include "onehead/model/run.hpp"
#include "onehead/pages/formats.hpp"

int main(int /*argc*/, char** argv) {
    auto const model = onehead::open_model(argv[1]);
    onehead::Request const request{.text = argv[3], .layer = std::stoul(argv[2])};
    onehead::write_trace(argv[5], onehead::trace(*model, request), onehead::find_formats(argv[4]));
}
