// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_source.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI {

file_source::file_source(const char* path) noexcept {
    const platform::no_cancel_scope scope;
    file_ = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file_ >= 0) ::unlink(path);
}

file_source::~file_source() {
    const platform::no_cancel_scope scope;
    if (file_ >= 0) ::close(file_);
}

void* file_source::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t page = platform::page_bytes();
    if (file_ < 0 || bytes == 0 || bytes > max_object_bytes - page) return nullptr;
    const std::size_t size = align_up(bytes, page);
    void* const range = platform::reserve(size, alignment);
    if (range == nullptr) return nullptr;
    std::uint64_t begin = 0;
    bool is_there = false;
    {
        const platform::lock_guard lock(mutex_);
        begin = end_;
        is_there = size <= max_object_bytes - begin && ::ftruncate(file_, static_cast<off_t>(begin + size)) == 0;
        if (is_there) end_ += size;
    }
    void* const mapped =
        is_there ? ::mmap(range, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(begin))
                 : MAP_FAILED;
    if (mapped == range && platform::exclude_from_fork(range, size)) return range;
    platform::unreserve(range, size);
    return nullptr;
}

void file_source::release(void* block, std::size_t bytes) noexcept {
    const std::size_t size = align_up(bytes, platform::page_bytes());
    platform::punch(block, size);
    platform::unreserve(block, size);
}

bool file_source::decommit(void* part, std::size_t bytes) noexcept {
    const std::uintptr_t first = align_up(address_of(part), platform::page_bytes());
    const std::uintptr_t last = align_down(address_of(part) + bytes, platform::page_bytes());
    return first < last && platform::punch(pointer_at(first), last - first);
}

}
