// Whole traces have the same bits with each instruction set that this processor has, and with more threads.
#include <catch2/catch.hpp>
#include <filesystem>

#include "onehead/math/parallel.hpp"
#include "onehead/model/model.hpp"
#include "onehead/model/run.hpp"
#include "support/each_kernel.hpp"
#include "support/matrices.hpp"

namespace onehead::test {
namespace {

std::vector<int> hundred_tokens() {
    std::vector<int> ids(100);
    for (std::size_t pos = 0; pos < ids.size(); ++pos) ids[pos] = static_cast<int>(pos * 397 % 50257);
    return ids;
}

void expect_same_bits(Trace const& found, Trace const& expected) {
    REQUIRE(found.steps().size() == expected.steps().size());
    for (Step const& step : expected.steps()) {
        INFO(step.term.name);
        CHECK(bits(found[step.term]) == bits(step.values));
    }
}

}  // namespace

TEST_CASE("whole traces have the same bits with every instruction set and with one or two threads",
          "[golden][threads]") {
    auto const model = open_model(std::filesystem::path{ONEHEAD_SOURCE_DIR} / "data" / "gpt2-mini");
    auto const ids = hundred_tokens();
    auto const request =
        GENERATE_COPY(Request{.token_ids = ids}, Request{.token_ids = ids, .layer = 3, .head = 2},
                      Request{.token_ids = ids, .layer = 1, .experiment = "unscaled"});
    std::size_t const threads = thread_count();
    Trace const expected = trace(*model, request);
    with_each_kernel([&](Kernel const& kernel) {
        for (std::size_t const count : {1U, 2U}) {
            set_thread_count(count);
            INFO(kernel.name << ", threads: " << count);
            expect_same_bits(trace(*model, request), expected);
        }
    });
    set_thread_count(threads);
}

}  // namespace onehead::test
