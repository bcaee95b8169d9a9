// One document in three forms: what is text stays text in each of them, labels stay whole, wide tables are
// cut.
#include <catch2/catch.hpp>
#include <string>

#include "onehead/pages/document.hpp"
#include "onehead/pages/html.hpp"
#include "onehead/pages/markdown.hpp"
#include "onehead/pages/text.hpp"

namespace onehead::test {
namespace {

using Catch::Contains;

constexpr auto hostile = "<b>*bold*</b> & \"q\" `code` [a](b) |";

Document everywhere(std::string const& words) {
    Document page{words};
    page.heading(words);
    page.paragraph(
        say("{} {} {} {}", words, Label{"4", words}, Code{words}, Link{words, "x.csv\" onclick=\"y"}));
    Table table;
    table.caption = words;
    table.columns = {{Inline{words}}, {Label{"0", words}, Align::right}};
    table.rows.push_back({{words}, {Inline{words}, "p3", words}});
    page.add(table);
    page.add(Formula{words, words});
    page.add(CodeBlock{words, "sh"});
    page.add(Question{1, words, {{Paragraph{words, false}}}, 0, false});
    page.add(FactList{{{words, words}}});
    Picture picture;
    picture.title = words;
    picture.values = Matrix{{1}};
    picture.row_labels = picture.column_labels = {words};
    page.add(picture);
    return page;
}

}  // namespace

TEST_CASE("text is never markup, wherever it is") {
    std::string const page = html(everywhere(hostile));
    CHECK_THAT(page, !Contains("<b>"));
    CHECK_THAT(page, !Contains("onclick=\"y"));
    CHECK_THAT(page, Contains("&lt;b&gt;*bold*&lt;/b&gt; &amp; &quot;q&quot;"));
}

TEST_CASE("bytes that are not UTF-8 are shown as escapes") {
    Document page;
    page.heading(say("half {} of a character", "\xF0\x9F"));
    CHECK(markdown(page) == "# half \\\\xF0\\\\x9F of a character\n");
    CHECK_THAT(html(page), Contains("half \\xF0\\x9F of a character"));
    CHECK_THAT(text(page), Contains("half \\xF0\\x9F of a character"));
}

TEST_CASE("text is text in Markdown too") {
    Document page;
    page.paragraph(say("{} {}", hostile, Code{"a`b"}));
    CHECK(markdown(page) == "\\<b\\>\\*bold\\*\\</b\\> & \"q\" \\`code\\` \\[a\\](b) \\| ``a`b``\n");
}

TEST_CASE("a sentence with blanks") {
    CHECK(plain(say("{} and {}, {1} again, {{so}}", 1, "b")) == "1 and b, b again, {so}");
    CHECK(plain(list({"a", "b", "c"})) == "a, b and c");
}

TEST_CASE("a line is not broken inside a token's label") {
    Document page;
    std::string const words(93, 'x');
    page.paragraph(say("{} {} y", words, Label{"1", "' cat'"}));
    page.paragraph(words + " is ' cat' y");
    CHECK(text(page) == words + "\n1 ' cat' y\n\n" + words + " is\n' cat' y\n");
}

TEST_CASE("a table: tokens head their columns in two lines, cells are padded as a terminal shows them") {
    Table table;
    table.columns = {{"key"}, {Label{"0", "'The'"}, Align::right}};
    table.rows.push_back({{"a"}, {"1"}});
    table.rows.push_back({{"\u5b57"}, {"100"}});  // a wide character: two columns
    CHECK(text(table, "") == "key      0\n     'The'\na        1\n\u5b57     100\n");
}

TEST_CASE("a table that is too wide is cut into several, each with its first column") {
    Table table;
    table.columns = {{"row"}};
    std::vector<TableCell> cells{{"name"}};
    for (int i = 0; i < 30; ++i) {
        table.columns.emplace_back(Inline{i}, Align::right);
        cells.emplace_back(std::string{"12345"});
    }
    table.rows.push_back(cells);
    std::string const page = text(table);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < page.size(); at = page.find('\n', at) + 1) {
        CHECK(page.find('\n', at) - at <= 100);
        if (page.compare(at, 6, "  name") == 0) ++lines;
    }
    CHECK(lines == 3);
}

TEST_CASE("a page runs the script that its policy names, and no other") {
    Document page{"t"};
    CHECK_THAT(html(page), !Contains("script-src"));
    page.add(Program{"alert(1)", "data", "{\"a\": \"</script>\"}"});
    std::string const made = html(page);
    // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
    CHECK_THAT(made, Contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"));
    CHECK_THAT(made, Contains("{\"a\": \"\\u003c/script>\"}"));
}

}  // namespace onehead::test
