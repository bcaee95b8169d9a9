// A file that is only read, and not trusted to stay as it is: it is opened once, and whatever is missing
// later (it shrank, the disk failed) is an Error, and so is what was written to it meanwhile: half of an old
// file and half of a new one are no file. It is not mapped into memory, where a file that shrinks ends the
// program.
#pragma once

#include <nettle/sha2.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace onehead {

class File {
public:
    // Throws an Error if the path is missing, not to be read, or a folder, a pipe or a device.
    explicit File(std::filesystem::path path);
    ~File();
    File(File const&) = delete;
    File(File&&) = delete;
    File& operator=(File const&) = delete;
    File& operator=(File&&) = delete;

    std::filesystem::path const& path() const { return path_; }
    std::string name() const { return path_.string(); }
    std::uint64_t size() const { return opened_.size; }  // in bytes, when it was opened

    // Fills `bytes` with what lies at the offset. Throws an Error if the file ends before, or is no longer
    // the one that was opened.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

    // How many bytes all files together have read since the program started.
    static std::uint64_t bytes_read();

private:
    // What tells that somebody wrote to it. The time of its last change in any way is left out: that is also
    // of a new name or a second link, while the bytes stay.
    struct State {
        std::uint64_t size = 0;
        std::int64_t modified_seconds = 0;
        std::int64_t modified_nanoseconds = 0;

        bool operator==(State const&) const = default;
    };

    State state() const;
    void expect_unchanged() const;

    std::filesystem::path path_;
    int descriptor_;
    State opened_;
};

// The whole of a small file. Throws an Error if it is larger than `most` bytes.
std::string read_text(std::filesystem::path const& path, std::size_t most);

// A text file of a model, read whole. What often lies under the right name and is something else is named.

// Throws an Error if the file cannot be read, is empty, is larger than `largest` bytes, or is a Git LFS
// pointer or a web page.
std::string read_text_file(std::filesystem::path const& file, std::size_t largest);

// The sha256 of bytes that come one piece after the other.

class Sha256 {
public:
    Sha256();
    void add(std::span<std::byte const> bytes);
    std::string hex();  // as sha256sum prints it; begins anew

private:
    sha256_ctx state_{};
};

// A file that is recognised by its content.

struct KnownFile {
    std::uintmax_t size = 0;
    std::string_view sha256;  // hexadecimal, as sha256sum prints it
};

// False also if there is no such file or it cannot be read.
bool is_known(std::filesystem::path const& path, KnownFile const& known);

// The same for what a file holds.
bool is_known(std::string_view content, KnownFile const& known);

// Writes a file whole, or throws.

// Takes the bytes of a file, piece by piece.
using Sink = std::function<void(std::string_view)>;

// Writes what `give` hands over. Throws an Error that names the file and the system's reason.
void write_file(std::filesystem::path const& path, std::function<void(Sink const& out)> const& give);

void write_file(std::filesystem::path const& path, std::string_view bytes);

// The same, but an earlier file of that name stays until the new one is whole. A device or a pipe is written
// to.
void write_file_in_place(std::filesystem::path const& path, std::string_view bytes);

}  // namespace onehead
