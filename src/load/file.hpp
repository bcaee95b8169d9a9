// A file that is only read, and not trusted to stay as it is: it is opened once, and whatever is missing
// later (it shrank, the disk failed) is an Error. It is not mapped into memory, where a file that shrinks
// ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

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
    std::uint64_t size() const { return size_; }  // in bytes, when it was opened

    // Fills `bytes` with what lies at the offset. Throws an Error if the file ends before.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

    // How many bytes all files together have read since the program started.
    static std::uint64_t bytes_read();

private:
    std::filesystem::path path_;
    int descriptor_;
    std::uint64_t size_ = 0;
};

// The whole of a small file. Throws an Error if it is larger than `most` bytes.
std::string read_text(std::filesystem::path const& path, std::size_t most);

}  // namespace onehead
