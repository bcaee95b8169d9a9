// Files built, or damaged, to bring a reader down.
#include <catch2/catch.hpp>
#include <ctime>
#include <fstream>
#include <random>

#include "onehead/error.hpp"
#include "onehead/io/safetensors.hpp"
#include "support/message_of.hpp"
#include "support/safetensors_writer.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

// Headers of 4 MB, the most that is read, built to cost much.
std::string repeated(std::string const& start, std::string const& part, std::size_t size) {
    std::string text = start;
    while (text.size() + part.size() < size) text += part;
    return text;
}

std::string numbered(std::string const& start, std::string const& before, std::string const& after,
                     std::size_t size) {
    std::string text = start;
    for (int i = 0; text.size() + 100 < size; ++i)
        text.append(before).append(std::to_string(i)).append(after);
    return text;
}

std::vector<std::pair<std::string, std::string>> nasty_headers() {
    std::size_t const size = std::size_t{4} << 20U;
    auto const empty_tensor = R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
    return {
        {"lists in lists", std::string(size, '[')},
        {"objects in objects", repeated("", R"({"":)", size)},
        {"a million keys", numbered("{", "\"", "\":1,", size)},
        {"many tensors", numbered("{", "\"", empty_tensor, size)},
        {"much metadata", numbered(R"({"__metadata__":{)", "\"", R"(":"",)", size)},
        {"a long shape", repeated(R"({"w":{"shape":[)", "1,", size)},
        {"a long name", R"({")" + std::string(size - 10, 'x') + R"(":1})"},
        {"a long number", R"({"w":{"shape":[)" + std::string(size - 100, '1')},
        {"a long text", R"({"w":{"dtype":")" + std::string(size - 100, 'x') + "\"}}"},
        {"spaces", std::string(size, ' ')},
    };
}

// The most memory that the process has had since the last call, in kB.
long peak_memory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    long kilobytes = 0;
    while (status >> word)
        if (word == "VmHWM:") status >> kilobytes;
    std::ofstream("/proc/self/clear_refs") << 5;
    return kilobytes;
}

// Under the sanitizers, whose build asserts, their own memory and time would be measured.
#ifdef XTENSOR_ENABLE_ASSERT
constexpr bool measures = false;
#else
constexpr bool measures = true;
#endif

}  // namespace

TEST_CASE("safetensors: a hostile header costs little memory and time", "[load]") {
    TempFolder const folder;
    for (auto const& [what, header] : nasty_headers()) {
        INFO(what);
        auto const path = folder.write("nasty.safetensors", with_header(header));
        peak_memory();
        long const before = peak_memory();
        auto const start = std::clock();  // of this process: others may be using the machine
        auto const message = message_of([&] { Safetensors const file(path); });
        double const seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        check_message(message, {"nasty.safetensors"});
        CHECK(message.size() < 600);
        if (!measures) continue;
        CHECK(peak_memory() - before < 64L * 1024);
        CHECK(seconds < 1);
    }
}

namespace {

TestFile small_file() {
    TestFile file;
    file.metadata = {{"model", "small"}, {"text", "a b"}};
    file.tensors["a"] = f32({2, 3}, {1, 2, 3, 4, 5, 6});
    file.tensors["b"] = {"F16", {4}, std::string(8, '\x11')};
    file.tensors["c"] = {"I64", {2}, std::string(16, '\x01')};
    file.tensors["d"] = {"F64", {1}, std::string(8, '\x01')};
    return file;
}

// Whatever it says about single tensors: only that each is a result or an Error counts.
void read_all(Safetensors const& file, std::string const& name) {
    auto const& shape = file.at(name).shape;
    message_of([&] { file.read_integers(name); });
    message_of([&] { file.read_doubles(name); });
    if (shape.size() == 1) message_of([&] { file.read_vector(name, shape[0]); });
    if (shape.size() == 2) message_of([&] { file.read_matrix(name, shape[0], shape[1]); });
}

void read_everything(std::filesystem::path const& path) {
    Safetensors const file(path);
    for (auto const& entry : file.tensors()) read_all(file, entry.first);
}

}  // namespace

TEST_CASE("safetensors: a damaged byte ends in an Error or in other numbers, never in a crash", "[load]") {
    std::mt19937 random(20240521);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same bytes in every run
    std::string const good = small_file().bytes();
    TempFolder const folder;
    auto const path = folder.path() / "fuzz.safetensors";
    int refused = 0;
    for (int i = 0; i < 4000; ++i) {
        std::string bytes = good;
        for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
            bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
        if (i % 5 == 0) bytes.resize(random() % bytes.size());
        folder.write("fuzz.safetensors", bytes);
        refused += message_of([&] { read_everything(path); }).empty()
                       ? 0
                       : 1;  // anything but an Error fails the test
    }
    CHECK(refused > 2000);
    CHECK(refused < 4000);
}
