// What several threads compute and write has the bits of what one thread does.
#include "onehead/math/parallel.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "onehead/attention/gpt2.hpp"
#include "onehead/attention/head.hpp"
#include "onehead/pages/formats.hpp"
#include "support/matrices.hpp"
#include "support/random_case.hpp"
#include "support/temp_folder.hpp"

namespace onehead::test {
namespace {

constexpr std::size_t n_seq = 500;  // 250,000 scores: enough for several threads

// Sets the number of threads for a scope.
class Threads {
public:
    explicit Threads(std::size_t count) { set_thread_count(count); }
    ~Threads() { set_thread_count(before_); }
    Threads(Threads const&) = delete;
    Threads(Threads&&) = delete;
    Threads& operator=(Threads const&) = delete;
    Threads& operator=(Threads&&) = delete;

private:
    std::size_t before_ = thread_count();
};

std::map<std::string, std::string> contents(std::filesystem::path const& folder) {
    std::map<std::string, std::string> files;
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        files[entry.path().filename().string()] = contents_of(entry.path());
    return files;
}

Matrix through_mlp() {
    Random random{7};
    MlpWeights const mlp{.ln_2 = {random.vector(d_model), random.vector(d_model), 1e-5},
                         .c_fc = random.matrix(d_model, 400),
                         .c_fc_bias = random.vector(400),
                         .c_proj = random.matrix(400, d_model),
                         .c_proj_bias = random.vector(d_model)};
    return after_mlp(random.matrix(n_seq, d_model), mlp);
}

Matrix normalized() {
    Random random{8};
    return normalize(random.matrix(n_seq, 600), {random.vector(600), random.vector(600), 1e-5});
}

}  // namespace

TEST_CASE("many rows are shared among the threads, each row once, and not split again inside") {
    Threads const three{3};
    std::mutex mutex;
    std::set<std::thread::id> workers;
    std::multiset<std::size_t> rows;
    std::size_t most_inside = 0;
    for_rows(n_seq, n_seq, [&](std::size_t i) {
        std::size_t inside = 0;
        for_ranges(100, 1, [&](std::size_t, std::size_t) { ++inside; });
        std::scoped_lock const lock{mutex};
        workers.insert(std::this_thread::get_id());
        rows.insert(i);
        most_inside = std::max(most_inside, inside);
    });
    CHECK(workers.size() == 3);
    CHECK(rows.size() == n_seq);
    CHECK(std::set(rows.begin(), rows.end()).size() == n_seq);
    CHECK(most_inside == 1);
}

TEST_CASE("every task is done once, and an Error in one comes back") {
    Threads const three{3};
    std::vector<int> done(20);
    for_tasks(20, [&](std::size_t i) { ++done[i]; });
    CHECK(done == std::vector<int>(20, 1));
    CHECK_THROWS_AS(for_tasks(20,
                              [](std::size_t i) {
                                  if (i == 13) throw std::bad_alloc{};
                              }),
                    std::bad_alloc);
}

TEST_CASE("every step, LayerNorm and the MLP have the same bits from one thread and from several") {
    std::vector<std::vector<std::uint32_t>> expected;
    for (std::size_t const count : {1U, 2U, 3U}) {
        Threads const threads{count};
        std::vector<std::vector<std::uint32_t>> found{bits(normalized()), bits(through_mlp())};
        Case const c = random_case(1, n_seq);
        Trace const traced = trace_of(c);
        for (Step const& step : traced.steps()) found.push_back(bits(step.values));
        found.push_back(bits(after_attention(c.residual, *c.block)));
        if (expected.empty()) expected = found;
        CAPTURE(count);
        CHECK((found == expected));
    }
}

TEST_CASE("files have the same bytes from one thread and from several") {
    TempFolder const temp;
    Trace const trace = trace_of(random_case(1, n_seq));
    std::vector<std::map<std::string, std::string>> written;
    for (std::size_t const count : {1U, 3U}) {
        Threads const threads{count};
        write_trace(temp.path() / "trace", trace, find_formats("text,csv,npy"));
        written.push_back(contents(temp.path() / "trace"));
    }
    CHECK(written[0].size() == 3 + 2 * trace.steps().size());
    CHECK((written[0] == written[1]));
}

}  // namespace onehead::test
