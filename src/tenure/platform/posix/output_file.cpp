// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/output_file.hpp>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::string_view unfinished = ".part";

/// Programs close their standard output and error at the end. A file with one of these numbers would receive what
/// others write there.
[[nodiscard]] int above_standard(int file) noexcept {
    if (file < 0 || file > STDERR_FILENO) return file;
    const int moved = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    static_cast<void>(::close(file));
    return moved;
}

}

output_file::output_file(std::string_view path) noexcept {
    if (path.empty() || path.size() + unfinished.size() >= sizeof path_) return;
    *std::copy(path.begin(), path.end(), name_) = '\0';
    char* const end = std::copy(path.begin(), path.end(), path_);
    *std::copy(unfinished.begin(), unfinished.end(), end) = '\0';
    const no_cancel_scope scope;
    struct stat found {};
    if (::stat(name_, &found) == 0 && !S_ISREG(found.st_mode)) return; // root would replace /dev/null
    // A leftover of an interrupted attempt goes; a link that somebody put there is not followed.
    static_cast<void>(::unlink(path_));
    file_ = above_standard(::open(path_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    is_sound_ = file_ >= 0;
}

output_file::~output_file() {
    if (file_ < 0) return;
    const int saved = errno;
    const no_cancel_scope scope;
    static_cast<void>(::close(file_));
    static_cast<void>(::unlink(path_));
    errno = saved;
}

void output_file::write(const void* data, std::size_t bytes) noexcept {
    const no_cancel_scope scope;
    const auto* from = static_cast<const char*>(data);
    while (is_sound_ && bytes != 0) {
        const ssize_t written = ::write(file_, from, bytes);
        if (written < 0 && errno == EINTR) continue;
        is_sound_ = written > 0;
        if (!is_sound_) return;
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

bool output_file::finish() noexcept {
    if (!is_sound_) return false;
    const no_cancel_scope scope;
    const bool is_closed = ::close(file_) == 0;
    file_ = -1;
    const bool is_named = is_closed && ::rename(path_, name_) == 0;
    if (!is_named) static_cast<void>(::unlink(path_));
    return is_named;
}

bool read_in_parts(const char* path, char* buffer, std::size_t capacity,
                   void (*visit)(void* context, std::string_view part) noexcept, void* context,
                   std::size_t max_bytes) noexcept {
    const no_cancel_scope scope;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    ssize_t count = 0;
    while ((count = ::read(file, buffer, capacity)) > 0) {
        const auto bytes = static_cast<std::size_t>(count);
        if (bytes > max_bytes) break;
        max_bytes -= bytes;
        visit(context, {buffer, bytes});
    }
    static_cast<void>(::close(file));
    return count == 0;
}

std::uint64_t unix_ms() noexcept {
    constexpr std::uint64_t ms_per_s = 1000, ns_per_ms = 1'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * ms_per_s + static_cast<std::uint64_t>(now.tv_nsec) / ns_per_ms;
}

}
