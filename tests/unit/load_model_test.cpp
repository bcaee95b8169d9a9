#include <catch2/catch.hpp>
#include <cstdlib>

#include "onehead/error.hpp"
#include "onehead/model/model.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_model.hpp"

using namespace onehead;
using namespace onehead::test;

TEST_CASE("model: a folder is a checkpoint, a file an excerpt", "[load]") {
    TempFolder const folder;
    TinyCheckpoint().write(folder.path());
    auto const excerpt = folder.write("part.safetensors", tiny_excerpt().bytes());
    CHECK(open_model(folder.path())->own_tokens().empty());
    CHECK(open_model(excerpt)->own_tokens().size() == 3);
    check_message(message_of([&] { open_model(folder.path() / "none"); }), {"none", "No such file"});
    check_message(message_of([&] { open_model(std::string(5000, 'x')); }), {"too long"});
}

TEST_CASE("model: the one that comes with the program", "[load]") {
    CHECK(open_model(data_folder() / "gpt2-mini")->name() == "gpt2-mini");
    CHECK(open_model(data_folder() / "gpt2-mini" / "")->name() == "gpt2-mini");
}

TEST_CASE("model: the default is the environment's, else one in the data folder", "[load]") {
    char const* const set = std::getenv("ONEHEAD_MODEL");
    std::string const before = set == nullptr ? "" : set;
    REQUIRE(::setenv("ONEHEAD_MODEL", "/some/where", 1) == 0);
    CHECK(default_model() == "/some/where");
    REQUIRE(::setenv("ONEHEAD_MODEL", "", 1) == 0);
    bool const downloaded = std::filesystem::exists(data_folder() / "gpt2" / "model.safetensors");
    CHECK(default_model() == data_folder() / (downloaded ? "gpt2" : "gpt2-mini"));
    REQUIRE(::setenv("ONEHEAD_MODEL", before.c_str(), 1) == 0);
}
