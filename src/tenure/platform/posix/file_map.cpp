// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_map.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <string_view>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// A file that has no name any more. Negative when the folder cannot be written to.
int open_nameless() noexcept {
    char const* const asked = ::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): nobody changes it
    std::string_view const folder = asked != nullptr && *asked != '\0' ? asked : "/var/tmp";
    constexpr std::string_view name = "/tenure-XXXXXX";
    char path[PATH_MAX];
    if (folder.size() + name.size() >= sizeof path) return -1;
    std::memcpy(path, folder.data(), folder.size());
    std::memcpy(path + folder.size(), name.data(), name.size());
    path[folder.size() + name.size()] = '\0';
    int const file = ::mkostemp(path, O_CLOEXEC);
    if (file >= 0) ::unlink(path);
    return file;
}

[[nodiscard]] bool has_room(int file, std::size_t bytes) noexcept {
    struct ::stat about {};
    if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    auto const wanted = static_cast<off_t>(bytes);
    return about.st_size >= wanted || ::ftruncate(file, wanted) == 0;
}

}

void* map_file(const char* path, std::size_t bytes, status& why) noexcept {
    why = status::file_error;
    constexpr mode_t rights = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
    if (bytes == 0 || bytes > max_object_bytes) return nullptr;
    int const file = path == nullptr ? open_nameless() : ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, rights);
    if (file < 0) return nullptr;
    void* mapped = MAP_FAILED;
    if (has_room(file, bytes)) {
        why = status::out_of_memory;
        mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    ::close(file);
    if (mapped == MAP_FAILED) return nullptr;
    why = status::ok;
    return mapped;
}

void unmap_file(void* memory, std::size_t bytes) noexcept { ::munmap(memory, bytes); }

}
