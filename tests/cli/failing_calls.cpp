// Linked into the command `onehead_failing`, it makes one of the calls that change files fail, or kills the
// program there, as kill -9 would.
//   FAULT_AT=7 FAULT=28    the seventh such call fails with ENOSPC (28)
//   FAULT_AT=7 FAULT=kill  the program dies before the seventh
//   NO_EXCHANGE=1          two names cannot be exchanged, as on some file systems
//   CALLS=file             how many there were is written to this file at the end
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int calls = 0;

long number(char const* variable) {
    char const* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// True if this call is the one to fail.
bool fails() {
    if (++calls != number("FAULT_AT")) return false;
    if (std::strcmp(std::getenv("FAULT"), "kill") == 0) std::raise(SIGKILL);
    errno = static_cast<int>(number("FAULT"));
    return true;
}

struct Report {
    ~Report() {
        char const* const path = std::getenv("CALLS");
        std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
        if (file == nullptr) return;
        std::fprintf(file, "%d", calls);
        std::fclose(file);
    }
} const report;

}  // namespace

// These stand before the system library's.
extern "C" {

int open(char const* path, int flags, ...) {
    std::va_list rest;
    va_start(rest, flags);
    mode_t const mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_CREAT) != 0 && fails()) return -1;
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int file, void const* bytes, std::size_t size) {
    if (file > STDERR_FILENO && fails()) return -1;
    return syscall(SYS_write, file, bytes, size);
}

int mkdir(char const* path, mode_t mode) noexcept {
    return fails() ? -1 : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlink(char const* path) noexcept {
    return fails() ? -1 : static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int rmdir(char const* path) noexcept {
    return fails() ? -1 : static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

int rename(char const* from, char const* to) noexcept {
    return fails() ? -1 : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_folder, char const* from, int to_folder, char const* to, unsigned flags) noexcept {
    if (number("NO_EXCHANGE") != 0) errno = EINVAL;
    if (number("NO_EXCHANGE") != 0 || fails()) return -1;
    return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

}  // extern "C"
