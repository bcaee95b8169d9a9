// trace.json: what is accepted holds together, and what a page shows of it is plain.
#include "onehead/trace/files.hpp"

#include "target.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace onehead;
    std::string const text = fuzz::text_of(data, size);
    fuzz::works([&] {
        TraceJson const trace = parse_trace_json(text, "trace.json");
        Facts const& facts = trace.facts;
        fuzz::promise(facts.row < trace.tokens.size());
        fuzz::promise(facts.layer < facts.n_layer && facts.head < facts.n_head);
        for (auto const& shown :
             {facts.model, facts.weights_sha256, facts.experiment, facts.experiment_says, facts.left_out})
            fuzz::promise(fuzz::is_plain(shown));
        for (StepFile const& step : trace.steps) {
            fuzz::promise(fuzz::is_plain(step.formula));
            fuzz::promise(step.file.find('/') == std::string::npos);
        }
    });
    return 0;
}
