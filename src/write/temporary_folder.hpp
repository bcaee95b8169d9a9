// A folder `.<name>.<number>` beside the wanted folder, in which a trace becomes whole. It is gone at the end
// of the scope, whatever happens; if the process is killed before, a later run to the same name removes it.
#pragma once

#include <filesystem>

namespace onehead {

class TemporaryFolder {
public:
    // Makes the folder, and those above it. Throws an Error if it cannot.
    explicit TemporaryFolder(std::filesystem::path const& wanted);
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder(TemporaryFolder&&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;

    std::filesystem::path const& path() const { return path_; }

private:
    bool make(std::filesystem::path const& wanted);  // false if the name is taken

    std::filesystem::path path_;
    int lock_ = -1;  // held on the folder while the process lives
};

// Removes the temporary folders of that name whose process is gone, if they hold nothing but files of a
// trace.
void remove_leftovers(std::filesystem::path const& wanted);

}  // namespace onehead
