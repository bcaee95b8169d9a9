// A deep head of a model through the whole library, as the command runs it, without Boost, which a system has
// for one standard library only: whole_library MODEL LAYER OUT
#include <string>

#include "onehead/model/run.hpp"
#include "onehead/pages/formats.hpp"

int main(int /*argc*/, char** argv) {
    auto const model = onehead::open_model(argv[1]);
    onehead::Request const request{.text = "caf\u00e9 5 \U0001F600, then 'the' cat",
                                   .layer = std::stoul(argv[2])};
    onehead::write_trace(argv[3], onehead::trace(*model, request),
                         onehead::find_formats("text,csv,npy,html,tidy"));
}
