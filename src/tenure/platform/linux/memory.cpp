// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <tenure/base/align.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::size_t huge_page_bytes() noexcept { return std::size_t{2} << 20; }

// MADV_DONTNEED and not MADV_FREE: decommitted pages must leave the resident size at once, so that users can see it,
// and a later touch must read zero.
bool decommit(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DONTNEED) == 0; }

// AddressSanitizer may know the pages as poisoned: they hold no block yet.
__attribute__((no_sanitize("address"))) bool prefault(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (begin >= end) return true;
    constexpr int populate_write = 23; // MADV_POPULATE_WRITE of Linux 5.14; older headers lack the name
    const std::size_t page = page_bytes();
    const std::uintptr_t first = align_down(begin, page);
    if (::madvise(pointer_at(first), end - first, populate_write) == 0) return true;
    if (errno != EINVAL && errno != EPERM && errno != ENOSYS) return false;
    for (std::uintptr_t at = begin; at < end; at = align_down(at, page) + page) {
        auto* const byte = static_cast<volatile unsigned char*>(pointer_at(at));
        *byte = *byte;
    }
    return true;
}

bool exclude_from_fork(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DONTFORK) == 0; }

bool include_in_fork(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DOFORK) == 0; }

bool punch(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_REMOVE) == 0; }

bool huge_pages(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_HUGEPAGE) == 0; }

namespace {

/// A word to mark the start of a reserved range; no other thread uses the same one.
std::uint32_t own_mark() noexcept {
    static constinit std::atomic<std::uint32_t> calls{0}; // relaxed: each call gets another number
    constexpr std::uint32_t odd = 0x9E37'79B1;            // products of different numbers differ
    return static_cast<std::uint32_t>(random_of_process(random_use::marks).words[0]) ^
           (calls.fetch_add(1, std::memory_order_relaxed) + 1) * odd;
}

/// Whether the word is at an address that may be unmapped. The kernel does the compare, in a futex wait that never
/// starts.
bool holds(const std::uint32_t* address, std::uint32_t word) noexcept {
    const timespec no_time{};
    if (::syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, word, &no_time, nullptr, 0) == 0) return true;
    return errno == ETIMEDOUT || errno == EINTR;
}

}

void* remap(void* range, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    if (alignment <= page_bytes()) {
        void* const moved = ::mremap(range, old_bytes, new_bytes, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? nullptr : moved;
    }
    // Reserve an aligned range first, then move the pages over it.
    void* const place = reserve(new_bytes, alignment);
    if (place == nullptr) return nullptr;
    const bool is_marked = commit(place, page_bytes());
    const std::uint32_t mark = own_mark();
    if (is_marked) {
        *static_cast<std::uint32_t*>(place) = mark;
        // When shrinking, some kernels unmap the end before they fail, so move only the part that stays.
        const std::size_t moved_bytes = std::min(old_bytes, new_bytes);
        if (::mremap(range, moved_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED) {
            if (new_bytes < old_bytes) unreserve(pointer_at(address_of(range) + new_bytes), old_bytes - new_bytes);
            return place;
        }
    }
    // Some kernels unmap the target range before they fail, others do not. If it is unmapped, another thread may have
    // mapped its own pages there by now. Only the mark tells the two cases apart.
    const int refusal = errno;
    if (!is_marked || holds(static_cast<const std::uint32_t*>(place), mark)) unreserve(place, new_bytes);
    errno = refusal;
    return nullptr;
}

bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return new_bytes == old_bytes; // the kernel would unmap the end
    // Only the last page: parts of the range may be sealed, and mremap() takes one mapping.
    const std::size_t page = page_bytes();
    void* const last = pointer_at(address_of(range) + old_bytes - page);
    return ::mremap(last, page, new_bytes - old_bytes + page, 0) != MAP_FAILED;
}

}
