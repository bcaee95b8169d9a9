#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>

#include "onehead/error.hpp"
#include "onehead/io/file.hpp"
#include "support/message_of.hpp"
#include "support/temp_folder.hpp"

using namespace onehead;
using namespace onehead::test;

namespace {

std::string open_message(std::filesystem::path const& path) {
    return message_of([&] { File const file(path); });
}

}  // namespace

TEST_CASE("file: reads what lies at an offset, and counts it", "[load]") {
    TempFolder const folder;
    File const file(folder.write("a", "abcdefgh"));
    CHECK(file.size() == 8);
    auto const before = File::bytes_read();
    std::array<char, 3> three{};
    file.read(2, std::as_writable_bytes(std::span(three)));
    CHECK(std::string(three.begin(), three.end()) == "cde");
    CHECK(File::bytes_read() - before == 3);
}

TEST_CASE("file: says what a path is that cannot be read", "[load]") {
    TempFolder const folder;
    check_message(open_message(folder.path() / "gone"), {"gone", "No such file"});
    check_message(open_message(folder.path()), {folder.path().string(), "expected a file", "a folder"});
    auto const pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    check_message(open_message(pipe), {"pipe", "expected a file", "a pipe"});
    check_message(open_message("/dev/zero"), {"/dev/zero", "a device"});
}

TEST_CASE("file: says that a file is not readable", "[load]") {
    if (::geteuid() == 0) {
        WARN("SKIPPED: root reads everything");
        return;
    }
    TempFolder const folder;
    auto const path = folder.write("secret", "x");
    std::filesystem::permissions(path, std::filesystem::perms::none);
    check_message(open_message(path), {"secret", "Permission denied"});
}

TEST_CASE("file: one that shrinks after it was opened is an Error, not a signal", "[load]") {
    TempFolder const folder;
    auto const path = folder.write("shrinks", std::string(1000, 'x'));
    File const file(path);
    std::filesystem::resize_file(path, 10);
    std::array<std::byte, 100> bytes{};
    check_message(message_of([&] { file.read(4, bytes); }), {"shrinks", "100 bytes", "at byte 4", "found 6"});
    CHECK_THROWS_AS(file.read(500, bytes), Error);
}

TEST_CASE("file: a text has a limit", "[load]") {
    TempFolder const folder;
    auto const path = folder.write("text", "12345");
    CHECK(read_text(path, 5) == "12345");
    check_message(message_of([&] { read_text(path, 4); }), {"text", "at most 4", "found 5"});
}

TEST_CASE("file: one that is written to after it was opened is an Error, as long as it stays", "[load]") {
    using namespace std::chrono_literals;
    TempFolder const folder;
    auto const path = folder.write("changes", "old old old");
    auto const before = std::filesystem::last_write_time(path);
    File const file(path);
    std::array<std::byte, 3> bytes{};
    CHECK_NOTHROW(file.read(0, bytes));
    folder.write("changes", "new new new");
    std::filesystem::last_write_time(path, before + 1us);
    check_message(message_of([&] { file.read(4, bytes); }), {"changes", "written to while it was read"});
}

TEST_CASE("file: one that takes another's place, or another name, is read to its end", "[load]") {
    TempFolder const folder;
    auto const path = folder.write("first", "first");
    File const file(path);
    std::filesystem::rename(folder.write("second", "second"), path);
    std::array<char, 5> bytes{};
    CHECK_NOTHROW(file.read(0, std::as_writable_bytes(std::span(bytes))));
    CHECK(std::string(bytes.begin(), bytes.end()) == "first");
}
