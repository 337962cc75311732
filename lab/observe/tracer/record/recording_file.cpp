// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/recording_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tenure/base/report.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::lab::tracer {

namespace {

constinit char path[recording_file::max_path_bytes + 64] = {};
constinit char zeros[16'384] = {}; // never written

/// What the process before a fork has kept open. The child closes it.
struct kept_file {
    int descriptor = 0;
    std::uint64_t device = 0, inode = 0;
};
constinit kept_file of_this_process{};

// System calls without the C library's functions, which the program may replace, and which a cancelled thread does not
// return from.

/// Calls again where a signal has interrupted the call. A signal that comes very often must not stop the thread.
template<class Call>
[[nodiscard]] long uninterrupted(Call&& call) noexcept {
    constexpr unsigned max_calls = 100;
    long answer = -1;
    for (unsigned count = 0; count < max_calls; ++count) {
        answer = call();
        if (answer != -1 || errno != EINTR) break;
    }
    return answer;
}

[[nodiscard]] int open_path(int flags) noexcept {
    return static_cast<int>(uninterrupted([&]() noexcept {
        return ::syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    }));
}
void close_file(int file) noexcept { static_cast<void>(::syscall(SYS_close, file)); }

/// Not a standard stream's number, and none of the first ones, which programs count on.
[[nodiscard]] int duplicate(int file) noexcept {
    constexpr int high = 900, low = STDERR_FILENO + 1;
    for (const int least : {high, low}) {
        const int copy = static_cast<int>(::syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, least));
        if (copy >= 0) return copy;
    }
    if (errno == EINVAL) errno = EMFILE; // the limit is below
    return -1;
}

/// Programs close their standard streams, and what they then write there must not reach the file.
[[nodiscard]] int above_standard(int file) noexcept {
    if (file < 0 || file > STDERR_FILENO) return file;
    const int moved = duplicate(file);
    close_file(file);
    return moved;
}

[[nodiscard]] bool find_identity(int file, std::uint64_t& device, std::uint64_t& inode) noexcept {
    struct stat found {};
    if (::syscall(SYS_fstat, file, &found) != 0) return false;
    device = found.st_dev;
    inode = found.st_ino;
    return true;
}

/// Only a name that is free: another belongs to another process, or to this one before exec.
[[nodiscard]] int create_path(std::string_view wanted, bool is_first_process) noexcept {
    constexpr unsigned max_numbers = 10'000;
    int file = -1;
    for (unsigned number = 0; number < max_numbers; ++number) {
        report_text name;
        if (!is_first_process || number != 0) name.text(".").number(platform::process_id());
        if (number > std::uint32_t{is_first_process}) name.text(".").number(number);
        name.text(".raw");
        std::memcpy(path, wanted.data(), wanted.size());
        std::memcpy(path + wanted.size(), name.view().data(), name.view().size());
        path[wanted.size() + name.view().size()] = '\0';
        file = above_standard(open_path(O_CREAT | O_EXCL));
        if (file >= 0 || errno != EEXIST) break;
    }
    return file;
}

[[nodiscard]] int write_zeros(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    while (bytes != 0) {
        const long written = uninterrupted([&]() noexcept {
            return ::syscall(SYS_pwrite64, file, zeros, std::min<std::uint64_t>(bytes, sizeof zeros),
                             static_cast<off_t>(offset));
        });
        if (written <= 0) return written == 0 ? ENOSPC : errno;
        offset += static_cast<std::uint64_t>(written);
        bytes -= static_cast<std::uint64_t>(written);
    }
    return 0;
}

/// Returns   zero, or why there is no room: an error number. Disk space is taken now, because a process that touches a
/// mapped page without disk space is killed.
[[nodiscard]] int grow(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    rlimit limit{}; // the kernel ends a process that writes past it
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur)
        return EFBIG;
    const long answer = uninterrupted([&]() noexcept {
        return ::syscall(SYS_fallocate, file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    });
    if (answer == 0) return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? write_zeros(file, offset, bytes) : errno;
}

[[nodiscard]] void* map_part(int file, std::uint64_t offset, std::uint64_t bytes) noexcept {
    void* const mapped =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? nullptr : mapped;
}

/// Returns   nullptr: `error` says why.
[[nodiscard]] void* grow_and_map(int file, std::uint64_t offset, std::uint32_t bytes, int& error) noexcept {
    error = grow(file, offset, bytes);
    void* const mapped = error == 0 ? map_part(file, offset, bytes) : nullptr;
    if (error == 0 && mapped == nullptr) error = errno;
    return mapped;
}

void close_what_parent_kept() noexcept {
    std::uint64_t device = 0, inode = 0;
    const kept_file kept = of_this_process;
    if (kept.descriptor != 0 && find_identity(kept.descriptor, device, inode) && device == kept.device &&
        inode == kept.inode)
        close_file(kept.descriptor);
    of_this_process = {};
}

}

bool recording_file::is_transient(int error) noexcept {
    return error == EINTR || error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

void* recording_file::create(std::string_view wanted, bool is_first_process, std::uint32_t bytes, int& error) noexcept {
    close_what_parent_kept();
    const int file = create_path(wanted, is_first_process);
    if (file < 0) {
        error = errno;
        return nullptr;
    }
    error = EIO;
    void* const mapped = find_identity(file, device_, inode_) ? grow_and_map(file, 0, bytes, error) : nullptr;
    if (mapped != nullptr) {
        next_.store(bytes, std::memory_order_relaxed);
        keep(file, 0);
    } else {
        static_cast<void>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
    }
    close_file(file);
    return mapped;
}

void* recording_file::extend(std::uint32_t bytes, std::uint64_t& end, int& error) noexcept {
    const int file = open_again();
    if (file < 0) {
        error = errno;
        return nullptr;
    }
    const std::uint64_t offset = next_.fetch_add(bytes, std::memory_order_relaxed);
    end = offset + bytes;
    void* const mapped = grow_and_map(file, offset, bytes, error);
    if (mapped == nullptr) { // the next part may have the place, unless another has one behind it
        std::uint64_t expected = end;
        next_.compare_exchange_strong(expected, offset, std::memory_order_relaxed);
    }
    close_file(file);
    return mapped;
}

bool recording_file::is_this(int descriptor) const noexcept {
    std::uint64_t device = 0, inode = 0;
    return find_identity(descriptor, device, inode) && device == device_ && inode == inode_;
}

/// Returns   a descriptor for one use; -1, and errno. It is a copy: the kept one may be closed by the program, and its
/// number become another file's, at any time. A descriptor of another file is neither copied nor closed, because a
/// process loses its locks of a file when it closes any descriptor of it.
int recording_file::open_again() noexcept {
    const int kept = kept_.load(std::memory_order_relaxed);
    if (kept != 0 && is_this(kept)) {
        const int copy = duplicate(kept);
        if (copy < 0 || is_this(copy)) return copy;
        close_file(copy);
    }
    const int file = above_standard(open_path(0));
    if (file < 0) return -1;
    if (!is_this(file)) { // a later recording's, which has got the name
        close_file(file);
        errno = ESTALE;
        return -1;
    }
    keep(file, kept);
    return file;
}

void recording_file::keep(int descriptor, int before) noexcept {
    const int copy = duplicate(descriptor);
    if (copy < 0) return;
    if (kept_.compare_exchange_strong(before, copy, std::memory_order_relaxed)) {
        of_this_process = {copy, device_, inode_};
    } else { // another thread was first
        close_file(copy);
    }
}

}
