// A folder for one test, gone when the test is over; and the model that the program comes with.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace onehead::test {

class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "onehead-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
        path_ = name;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(TempFolder const&) = delete;
    TempFolder(TempFolder&&) = delete;
    TempFolder& operator=(TempFolder const&) = delete;
    TempFolder& operator=(TempFolder&&) = delete;

    std::filesystem::path const& path() const { return path_; }

    // Writes a file into it and returns where.
    std::filesystem::path write(std::string const& name, std::string const& bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

inline std::string contents_of(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::filesystem::path const gpt2_mini = ONEHEAD_SOURCE_DIR "/data/gpt2-mini";

}  // namespace onehead::test
