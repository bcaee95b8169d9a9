#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>

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

namespace {

// Sets ONEHEAD_MODEL for as long as the test runs.
class Environment {
public:
    explicit Environment(std::string const& value) {
        if (char const* const set = std::getenv(name)) before_ = set;
        ::setenv(name, value.c_str(), 1);
    }
    ~Environment() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }
    Environment(Environment const&) = delete;
    Environment(Environment&&) = delete;
    Environment& operator=(Environment const&) = delete;
    Environment& operator=(Environment&&) = delete;

private:
    static constexpr auto name = "ONEHEAD_MODEL";
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("model: the default is the environment's, else gpt2-mini, whatever else is there", "[load]") {
    TempFolder const folder;
    TinyCheckpoint().write(folder.path());
    {
        Environment const chosen(folder.path().string());
        CHECK(open_default_model()->config().d_model == 4);
    }
    {
        Environment const chosen("");
        CHECK(open_default_model()->name() == "gpt2-mini");
    }
    Environment const missing("/no/such/model");
    check_message(message_of([] { open_default_model(); }),
                  {"$ONEHEAD_MODEL", "/no/such/model", "No such file"});
}

TEST_CASE("model: a bare name is a folder here, else one of those that come with the program", "[load]") {
    CHECK(open_model("gpt2-mini")->name() == "gpt2-mini");
    check_message(message_of([] { open_model("./gpt2-mini"); }), {"gpt2-mini", "No such file"});
    check_message(message_of([] { open_model("texts"); }), {"texts"});
}
