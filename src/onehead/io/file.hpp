// Files, read without trusting them and written whole or not at all.
//
// A file that is read is opened once. Whatever is missing later (it shrank, the disk failed) is an Error, and
// so is what was written to it meanwhile: half of an old file and half of a new one are no file. It is not
// mapped into memory, where a file that shrinks ends the program.
#pragma once

#include <nettle/sha2.h>
#include <sys/stat.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onehead {

// A folder, opened once: it stays the same one, also when another takes its name.
class OpenFolder {
public:
    // Throws an Error if there is none. `what` says what was expected: "the folder of a trace".
    OpenFolder(std::filesystem::path path, std::string_view what);
    ~OpenFolder();
    OpenFolder(OpenFolder const&) = delete;
    OpenFolder(OpenFolder&&) = delete;
    OpenFolder& operator=(OpenFolder const&) = delete;
    OpenFolder& operator=(OpenFolder&&) = delete;

    std::filesystem::path const& path() const { return path_; }
    int descriptor() const { return descriptor_; }
    bool has(std::string const& name) const;
    bool is_replaced() const;  // whether its path leads elsewhere by now, or nowhere

private:
    std::filesystem::path path_;
    int descriptor_;
};

class File {
public:
    // Throws an Error if the path is missing, not to be read, or a folder, a pipe or a device.
    explicit File(std::filesystem::path const& path);
    File(OpenFolder const& folder, std::string const& name);
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

    File(std::filesystem::path path, int descriptor);
    State state() const;
    void expect_unchanged() const;

    std::filesystem::path path_;
    int descriptor_;
    State opened_;
};

// Whether something has this name: also a link that leads nowhere, and what nobody may look at. Whoever opens
// it says so.
bool is_there(std::filesystem::path const& path);

// The whole of a small file. Throws an Error if it is larger than `most` bytes.
std::string read_text(File const& file, std::size_t most);
std::string read_text(std::filesystem::path const& path, std::size_t most);

// The same of a pipe or a device too, read to its end; "-" is standard input.
std::string read_stream(std::string const& name, std::size_t most);

// Throws an Error if the first bytes are of what is often found under the name of a model's file and is
// something else: a Git LFS pointer, a web page, an archive.
void refuse_impostor(std::string_view start, std::string const& name);

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

// Writing. An earlier file stays until the new one is whole; then it takes the name in one step, with the
// earlier one's mode and group. What a name leads to is replaced, not a link; what is no file (a device, a
// pipe) is written to, and so are this program's own descriptors (/dev/stdout, /dev/fd/3), whatever they are.

// Takes the bytes of a file, piece by piece.
using Sink = std::function<void(std::string_view)>;

// Throws an Error that names the file and the system's reason, or says that this program reads it too.
void write_file_in_place(std::filesystem::path const& path, std::string_view bytes);

// A new file in a folder that is in the making, of the bytes that `give` hands over.
void write_file(std::filesystem::path const& path, std::function<void(Sink const& out)> const& give);

// From now on, every file that is read is remembered, and nothing is written over it: for a program, which
// runs once.
void protect_inputs();

// One more file that belongs to what is read: another file of the same model.
void protect_input(std::filesystem::path const& path);
bool is_input(struct stat const& status);

// A file or folder in the making, beside the wanted one: under a name that nobody else gives, locked while
// its process lives. (A lock tells whether the owner is alive: the system drops it at the end, while a
// process id may be reused.)
class Unfinished {
public:
    enum class Kind { file, folder };

    // `names`: of the files that a folder can have, "below/name" in a folder below it. With `secret`, nobody
    // else can look into it.
    Unfinished(std::filesystem::path const& wanted, Kind kind, bool secret,
               std::vector<std::string> names = {});
    ~Unfinished();  // removes it, or what has its name by now
    Unfinished(Unfinished const&) = delete;
    Unfinished(Unfinished&&) = delete;
    Unfinished& operator=(Unfinished const&) = delete;
    Unfinished& operator=(Unfinished&&) = delete;

    std::filesystem::path const& path() const { return path_; }
    int descriptor() const { return descriptor_; }
    void has_moved();  // it has its final name, and nothing has this one: there is nothing to remove

private:
    bool make(std::filesystem::path const& wanted, bool secret);

    Kind kind_;
    std::filesystem::path path_;
    std::vector<std::string> names_;
    int descriptor_ = -1;
};

// Of names such as "below/name" those in the folder `folder`, without it.
std::vector<std::string> names_below(std::vector<std::string> const& names, std::string const& folder);

// The same mode and group as an earlier file or folder had. Where the group cannot be kept, another one gets
// no rights.
void keep_access(int descriptor, struct stat const& earlier);

// Removes what processes that are gone have left over of making `wanted`; of a folder only files of those
// names.
void remove_leftovers(std::filesystem::path const& wanted, std::vector<std::string> const& names);

// Whether somebody is making `wanted` now.
bool is_being_made(std::filesystem::path const& wanted);

// From now on, what is unfinished is removed when a signal (TERM, HUP, INT) ends the program, unless it is
// ignored.
void remove_unfinished_on_signals();

// Keeps such a signal waiting: for the moment in which names are exchanged.
class SignalsWait {
public:
    SignalsWait();
    ~SignalsWait();
    SignalsWait(SignalsWait const&) = delete;
    SignalsWait(SignalsWait&&) = delete;
    SignalsWait& operator=(SignalsWait const&) = delete;
    SignalsWait& operator=(SignalsWait&&) = delete;
};

}  // namespace onehead
