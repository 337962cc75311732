// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <sys/mman.h>

namespace tenure::inline TENURE_ABI::platform {

std::size_t huge_page_bytes() noexcept { return std::size_t{2} << 20; }

// MADV_DONTNEED and not MADV_FREE: what is given back must be gone from the resident size at once, or nobody believes
// it, and a later touch must read zero.
bool decommit(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_DONTNEED) == 0; }

void keep_from_children(void* pages, std::size_t bytes) noexcept { ::madvise(pages, bytes, MADV_DONTFORK); }

bool punch(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_REMOVE) == 0; }

bool huge_pages(void* pages, std::size_t bytes) noexcept { return ::madvise(pages, bytes, MADV_HUGEPAGE) == 0; }

void* remap(void* range, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    if (alignment <= page_bytes()) {
        void* const moved = ::mremap(range, old_bytes, new_bytes, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? nullptr : moved;
    }
    // An aligned range is reserved first, and the pages take its place.
    void* const place = reserve(new_bytes, alignment);
    if (place == nullptr) return nullptr;
    if (::mremap(range, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED) return place;
    // The kernel may have given the place away before it failed, and another thread may have it by now: it is left.
    return nullptr;
}

bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    return ::mremap(range, old_bytes, new_bytes, 0) != MAP_FAILED;
}

}
