#include "onehead/io/system.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <version>

#if defined(__linux__) && !defined(ONEHEAD_PLAIN_SYSTEM)
#define ONEHEAD_LINUX
#endif
#if defined(__cpp_lib_to_chars) && !defined(ONEHEAD_PLAIN_SYSTEM)
#define ONEHEAD_READS_FLOATS
#endif
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <xlocale.h>
#endif
#if defined(__EMSCRIPTEN__)
#include <emscripten/heap.h>
#include <malloc.h>
#endif

namespace onehead {

namespace {

#if defined(ONEHEAD_READS_FLOATS)

template <class Number>
std::optional<Number> read_number(std::string_view text) {
    Number value{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

#else

// strtof reads more than digits; what it must not see is sorted out first. Its decimal point depends on the
// locale, so it gets C's.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
    if (text.empty() ||
        (text.front() != '-' && text.front() != '.' && (text.front() < '0' || text.front() > '9')) ||
        text.find_first_not_of("0123456789+-.eE") != std::string_view::npos)
        return {};
    static locale_t const c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    std::string const terminated{text};
    char* end = nullptr;
    errno = 0;
    Number value{};
    if constexpr (sizeof(Number) == sizeof(float))
        value = strtof_l(terminated.c_str(), &end, c_locale);
    else
        value = strtod_l(terminated.c_str(), &end, c_locale);
    bool const out_of_range = errno == ERANGE && (value == 0 || std::isinf(value));
    if (out_of_range || end != terminated.c_str() + terminated.size()) return {};
    return value;
}

#endif

}  // namespace

std::optional<float> read_float(std::string_view text) {
    return read_number<float>(text);
}

std::optional<double> read_double(std::string_view text) {
    return read_number<double>(text);
}

std::error_code exchange_names(std::filesystem::path const& a, std::filesystem::path const& b) {
#if defined(ONEHEAD_LINUX)
    if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return {};
    return {errno, std::generic_category()};
#else
    for (auto const& path : {a, b})
        if (std::error_code error; !std::filesystem::exists(std::filesystem::symlink_status(path, error)))
            return std::make_error_code(std::errc::no_such_file_or_directory);
    return std::make_error_code(std::errc::function_not_supported);
#endif
}

std::filesystem::path program_path() {
#if defined(ONEHEAD_LINUX)
    std::error_code no_link;
    return std::filesystem::read_symlink("/proc/self/exe", no_link);
#elif defined(__APPLE__)
    std::string path(4096, '\0');
    auto size = static_cast<std::uint32_t>(path.size());
    if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
    return std::filesystem::canonical(path.c_str());
#else
    return {};
#endif
}

Moment modified(struct stat const& status) {
#if defined(__APPLE__)
    return {status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec};
#else
    return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
#endif
}

std::optional<std::uint64_t> address_space_left() {
#if defined(__EMSCRIPTEN__)
    return emscripten_get_heap_max() - static_cast<std::uint64_t>(mallinfo().uordblks);
#else
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    std::uint64_t taken = 0;  // in pages
    std::ifstream{"/proc/self/statm"} >> taken;
    taken *= static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
#endif
}

}  // namespace onehead
