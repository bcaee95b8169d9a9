// config.json. What is accepted is an architecture that can be.
#include "onehead/model/model.hpp"

#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    auto const path = fuzz::folder().write("config.json", fuzz::text_of(data, size));
    fuzz::works([&] {
        Config const config = read_config(path);
        fuzz::promise(config.n_head > 0 && config.d_head() * config.n_head == config.d_model);
        fuzz::promise(config.n_layer > 0 && config.n_ctx > 0 && config.vocab_size > 0 && config.d_mlp > 0);
        fuzz::promise(config.layer_norm_epsilon > 0);
    });
    return 0;
}
