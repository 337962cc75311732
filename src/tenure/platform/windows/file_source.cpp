// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_source.hpp>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/windows/file_handle.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::size_t file_granularity = std::size_t{64} * 1024;

/// Finds free addresses with a reservation, gives that back and maps there. Another thread may be faster.
[[nodiscard]] void* map_aligned_part(HANDLE file, std::uint64_t offset, std::size_t bytes,
                                     std::size_t alignment) noexcept {
    if (alignment <= file_granularity) return platform::map_part(file, offset, bytes, nullptr);
    constexpr int max_tries = 32;
    for (int tries = 0; tries < max_tries; ++tries) {
        void* const place = platform::reserve(bytes, alignment);
        if (place == nullptr) return nullptr;
        platform::unreserve(place, bytes);
        if (void* const mapped = platform::map_part(file, offset, bytes, place); mapped != nullptr) return mapped;
        if (::GetLastError() != ERROR_INVALID_ADDRESS) return nullptr;
    }
    return nullptr;
}

}

// The name goes when the file is closed: until then others see it.
file_source::file_source(const char* path) noexcept {
    constexpr DWORD rights = GENERIC_READ | GENERIC_WRITE;
    constexpr DWORD how = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
    const platform::kept_error kept;
    const platform::system_path name(path);
    file_ = platform::number_of_file(
        ::CreateFileW(name.get(), rights, platform::share_all, nullptr, CREATE_ALWAYS, how, nullptr));
}

file_source::~file_source() {
    if (file_ != -1) ::CloseHandle(platform::file_of_number(file_));
}

void* file_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    if (file_ == -1 || bytes == 0 || bytes > max_object_bytes - file_granularity) return nullptr;
    const platform::kept_error kept;
    const std::size_t size = align_up(bytes, file_granularity);
    const platform::lock_guard lock(mutex_);
    if (size > max_object_bytes - end_) return nullptr;
    void* const mapped = map_aligned_part(platform::file_of_number(file_), end_, size, alignment);
    if (mapped != nullptr) end_ += size;
    return mapped;
}

void file_source::release(void* block, std::size_t) noexcept {
    const platform::kept_error kept;
    ::UnmapViewOfFile(block);
}

bool file_source::decommit(void*, std::size_t) noexcept { return false; }

}
