#include <catch2/catch.hpp>

#include "onehead/error.hpp"
#include "onehead/io/json.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

TEST_CASE("json: reads a file", "[load]") {
    TempFolder const folder;
    auto const value = read_json(folder.write("a.json", R"({"a": [1, {"a": null}], "b": {"a": 2}})"));
    CHECK(value["a"][0] == 1);
    CHECK(value["b"]["a"] == 2);
}

TEST_CASE("json: refuses what two readers could take differently", "[load]") {
    struct Case {
        std::string text;
        std::vector<std::string> words;
    };
    auto const [text, words] = GENERATE(values<Case>({
        {"", {"line 1"}},
        {"{\n\"a\": 1,\n}", {"line 3"}},
        {"{\"a\": 1}\n{}", {"line 2"}},
        {R"({"a": NaN})", {"line 1"}},
        {"{\"a\": \"\xff\"}", {"line 1"}},
        {"{} // why", {"line 1"}},
        {R"({"a": 1, "b": 2, "a": 1})", {"\"a\"", "twice"}},
        {R"([{"x": {"long\nkey": 1, "long\nkey": 2}}])", {"long\\nkey", "twice"}},
        {R"({"a": 1e999})", {"too large"}},
        {std::string("{}\0", 3), {"byte 2"}},
        {std::string("{}\0{\"a\": 1}", 11), {"byte 2", "line 1"}},
        {std::string(17, '[') + std::string(17, ']'), {"16 levels"}},
        {std::string(500000, '['), {"16 levels"}},
    }));
    TempFolder const folder;
    auto const path = folder.write("bad.json", text);
    auto const message = message_of([&] { read_json(path); });
    check_message(message, {"bad.json"});
    check_message(message, words);
}

TEST_CASE("json: many objects side by side are refused before they take long", "[load]") {
    auto const objects = [](int count, std::string const& key) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += (i == 0 ? "" : ",") + (key.empty() ? "" : "\"" + std::to_string(i) + "\":") + "{}";
        return text;
    };
    CHECK_NOTHROW(parse_json("{" + objects(2000, "k") + "}", "some"));
    check_message(message_of([&] { parse_json("{" + objects(60000, "k") + "}", "many"); }),
                  {"many", "fewer objects"});
    check_message(message_of([&] { parse_json("[" + objects(60000, "") + "]", "many"); }),
                  {"many", "fewer objects"});
}

TEST_CASE("json: depth and size have limits", "[load]") {
    CHECK_NOTHROW(parse_json(std::string(16, '[') + std::string(16, ']'), "deep"));
    TempFolder const folder;
    auto const path = folder.write("large.json", "[1, 2, 3]");
    check_message(message_of([&] { read_json(path, 8); }), {"large.json", "at most 8"});
}
