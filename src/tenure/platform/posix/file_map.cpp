// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_map.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// Opens a file without a name. Negative when the folder is not writable.
int open_nameless() noexcept {
    const char* const asked = host::environment("TMPDIR");
    const std::string_view folder = asked != nullptr && *asked != '\0' ? asked : "/var/tmp";
    constexpr std::string_view name = "/tenure-XXXXXX";
    char path[PATH_MAX];
    if (folder.size() + name.size() >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    std::memcpy(path, folder.data(), folder.size());
    std::memcpy(path + folder.size(), name.data(), name.size());
    path[folder.size() + name.size()] = '\0';
    const int file = ::mkostemp(path, O_CLOEXEC);
    if (file >= 0) ::unlink(path);
    return file;
}

/// Whether `path` names the open file.
[[nodiscard]] bool leads_to(const char* path, const struct ::stat& file) noexcept {
    struct ::stat found {};
    return ::stat(path, &found) == 0 && found.st_dev == file.st_dev && found.st_ino == file.st_ino;
}

}

// Tries in this order to know whether the file is new. A dangling symbolic link counts as not new: its target is
// created by the last attempt, and stays.
bool mapped_file::open() noexcept {
    constexpr mode_t rights = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
    constexpr int usual = O_RDWR | O_CLOEXEC;
    if (path_ == nullptr) {
        file_ = open_nameless();
        return file_ >= 0;
    }
    file_ = ::open(path_, usual);
    if (file_ < 0 && errno == ENOENT) {
        file_ = ::open(path_, usual | O_CREAT | O_EXCL, rights);
        is_new_ = file_ >= 0;
        if (file_ < 0 && errno == EEXIST) file_ = ::open(path_, usual | O_CREAT, rights);
    }
    return file_ >= 0;
}

bool mapped_file::make_room() noexcept {
    struct ::stat about {};
    if (::fstat(file_, &about) != 0) return false;
    if (!S_ISREG(about.st_mode)) {
        errno = ENODEV; // the error of mmap() for files that cannot be mapped
        return false;
    }
    const auto wanted = static_cast<off_t>(bytes_);
    former_bytes_ = static_cast<std::uint64_t>(about.st_size);
    is_longer_ = about.st_size < wanted && ::ftruncate(file_, wanted) == 0;
    return about.st_size >= wanted || is_longer_;
}

mapped_file::mapped_file(const char* path, std::size_t bytes) noexcept : path_(path), bytes_(bytes) {
    const no_cancel_scope scope;
    if (bytes > max_object_bytes) {
        why_ = status::out_of_memory;
        errno = ENOMEM;
        return;
    }
    if (bytes == 0 || !open() || !make_room()) return;
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped != MAP_FAILED) {
        memory_ = mapped;
        why_ = status::ok;
    } else if (errno == ENOMEM) {
        why_ = status::out_of_memory; // other errors concern the file: some files have a size but cannot be mapped
    }
}

mapped_file::~mapped_file() {
    if (file_ < 0) return;
    const no_cancel_scope scope;
    const int said = errno;
    struct ::stat about {};
    if (!is_kept_) {
        if (memory_ != nullptr) unmap_file(memory_, bytes_);
        const bool is_known = ::fstat(file_, &about) == 0;
        // Do not remove a file that another process has put in its place, nor shrink one that another has extended.
        if (is_new_ && is_known && leads_to(path_, about)) ::unlink(path_);
        const bool is_as_left = is_known && about.st_size == static_cast<off_t>(bytes_);
        if (is_longer_ && is_as_left) is_longer_ = ::ftruncate(file_, static_cast<off_t>(former_bytes_)) != 0;
    }
    ::close(file_);
    errno = said;
}

void unmap_file(void* memory, std::size_t bytes) noexcept { unreserve(memory, align_up(bytes, page_bytes())); }

}
