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

// MADV_DONTNEED and not MADV_FREE: what is given back must be gone from the resident size at once, or nobody believes
// it, and a later touch must read zero.
bool decommit(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DONTNEED) == 0; }

bool exclude_from_fork(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DONTFORK) == 0; }

bool include_in_fork(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DOFORK) == 0; }

bool punch(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_REMOVE) == 0; }

bool huge_pages(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_HUGEPAGE) == 0; }

namespace {

/// A word that no other thread writes to the begin of a place.
std::uint32_t own_mark() noexcept {
    static constinit std::atomic<std::uint32_t> calls{0};
    constexpr std::uint32_t odd = 0x9E37'79B1; // the products of different numbers differ
    return static_cast<std::uint32_t>(random_of_process()) ^ (calls.fetch_add(1, std::memory_order_relaxed) + 1) * odd;
}

/// Whether the word lies at an address that may be unmapped: the kernel compares, by a wait that does not begin.
bool holds(const std::uint32_t* address, std::uint32_t word) noexcept {
    timespec const no_time{};
    if (::syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, word, &no_time, nullptr, 0) == 0) return true;
    return errno == ETIMEDOUT || errno == EINTR;
}

}

void* remap(void* range, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    if (alignment <= page_bytes()) {
        void* const moved = ::mremap(range, old_bytes, new_bytes, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? nullptr : moved;
    }
    // An aligned range is reserved first, and the pages take its place.
    void* const place = reserve(new_bytes, alignment);
    if (place == nullptr) return nullptr;
    bool const is_marked = commit(place, page_bytes());
    std::uint32_t const mark = own_mark();
    if (is_marked) {
        *static_cast<std::uint32_t*>(place) = mark;
        // Asked to make a range smaller, some kernels unmap its end before they refuse: only what stays is moved.
        std::size_t const moved_bytes = std::min(old_bytes, new_bytes);
        if (::mremap(range, moved_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED) {
            if (new_bytes < old_bytes) unreserve(pointer_at(address_of(range) + new_bytes), old_bytes - new_bytes);
            return place;
        }
    }
    // Some kernels unmap the place before they refuse, others do not. Where it is gone another thread may have mapped
    // its own there by now: only the mark tells.
    int const refusal = errno;
    if (!is_marked || holds(static_cast<const std::uint32_t*>(place), mark)) unreserve(place, new_bytes);
    errno = refusal;
    return nullptr;
}

bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return new_bytes == old_bytes; // the kernel would unmap the end
    return ::mremap(range, old_bytes, new_bytes, 0) != MAP_FAILED;
}

}
