// Where a trace's time goes, stage by stage, in milliseconds, the best of several runs: stages MODEL LAYER
// TEXT OUT RUNS
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onehead/attention/head.hpp"
#include "onehead/math/large_pages.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "onehead/pages/formats.hpp"
#include "onehead/pages/story.hpp"
#include "onehead/pages/text.hpp"
#include "onehead/trace/files.hpp"

namespace onehead::bench {
namespace {

class Stages {
public:
    template <class Work>
    auto measure(std::string const& name, Work const& work) {
        auto const start = std::chrono::steady_clock::now();
        auto result = work();
        std::chrono::duration<double, std::milli> const passed = std::chrono::steady_clock::now() - start;
        if (!best_.contains(name)) names_.push_back(name);
        best_[name] = best_.contains(name) ? std::min(best_[name], passed.count()) : passed.count();
        return result;
    }

    void print() const {
        for (std::string const& name : names_) fmt::print("{}\t{:.3f}\n", name, best_.at(name));
    }

private:
    std::vector<std::string> names_;
    std::map<std::string, double> best_;
};

std::size_t csv_text(Trace const& trace) {
    std::size_t bytes = 0;
    for (Step const& step : trace.steps())
        write_step_csv(step, trace.tokens, [&](std::string_view piece) { bytes += piece.size(); });
    return bytes;
}

void run(Stages& stages, std::string const& path, Request const& request, std::string const& out) {
    auto const model = stages.measure("open the model", [&] { return open_model(path); });
    stages.measure("read the vocabulary", [&] { return model->tokenizer().size(); });
    auto const ids = stages.measure("text to tokens", [&] { return tokens_of(*model, request); });
    Matrix rows =
        stages.measure("the rows that arrive", [&] { return arriving_rows(*model, ids, request.layer, {}); });
    auto block = stages.measure("read the block's weights", [&] { return model->attention(request.layer); });
    Case const c =
        stages.measure("the block's other heads", [&] { return make_case(rows, std::move(block), 0); });
    Tokens const tokens = model->tokens(ids);
    stages.measure("sha256 of the head's weights", [&] { return weights_sha256(c); });
    stages.measure("the head itself", [&] { return trace_head(c, tokens); });
    Trace const whole = trace(*model, request);
    stages.measure("trace.txt", [&] { return text(trace_story(whole, {})); });
    stages.measure("the CSVs' text, on one thread", [&] { return csv_text(whole); });
    stages.measure("all files: text and writing, on all threads", [&] {
        write_trace(out, whole, find_formats("text,csv"));
        return 0;
    });
    std::filesystem::remove_all(out);
}

}  // namespace
}  // namespace onehead::bench

int main(int /*argc*/, char** argv) {
    using namespace onehead;
    use_large_pages();
    Request request;
    request.layer = std::stoul(argv[2]);
    request.text = argv[3];
    bench::Stages stages;
    for (int i = 0; i < std::stoi(argv[5]); ++i) bench::run(stages, argv[1], request, argv[4]);
    stages.print();
}
