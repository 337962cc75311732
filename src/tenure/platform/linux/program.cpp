// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/program.hpp>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::string_view program_name() noexcept {
    const char* const name = ::program_invocation_short_name;
    return name == nullptr ? std::string_view{} : std::string_view{name};
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

kept_file copy_of_standard_error() noexcept {
    constexpr int lowest = 200;  // above the low numbers that programs may rely on
    const no_cancel_scope scope; // fcntl
    struct stat found {};
    kept_file copy;
    if (::fstat(STDERR_FILENO, &found) != 0) return copy;
    copy.number = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, lowest);
    copy.device = found.st_dev;
    copy.inode = found.st_ino;
    return copy;
}

bool is_still_open(const kept_file& file) noexcept {
    struct stat found {};
    return file.number >= 0 && ::fstat(file.number, &found) == 0 && found.st_dev == file.device &&
           found.st_ino == file.inode;
}

void write_to(int file, std::string_view text) noexcept {
    const no_cancel_scope scope;
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}
