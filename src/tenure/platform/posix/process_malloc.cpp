// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <malloc.h>
#include <stdlib.h>

#include <cstring>

#include <algorithm>

#include <tenure/base/align.hpp>
#include <tenure/base/hooks.hpp>

namespace tenure::inline TENURE_ABI::host {

namespace {
constexpr std::size_t max_bytes = max_object_bytes / 4;
}

void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > max_bytes || alignment > max_bytes) return nullptr;
    const std::size_t actual = std::max(alignment, default_alignment);
    void* const block = ::aligned_alloc(actual, align_up(std::max<std::size_t>(bytes, 1), actual));
    detail::note_block_begin(block, bytes);
    return block;
}

void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) {
        void* const block = ::calloc(1, std::max<std::size_t>(bytes, 1));
        detail::note_block_begin(block, bytes);
        return block;
    }
    void* const block = process_allocate(bytes, alignment);
    if (block != nullptr) std::memset(block, 0, bytes);
    return block;
}

void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment <= default_alignment) {
        detail::note_block_end(block); // before another thread can have it
        void* const moved = ::realloc(block, std::max<std::size_t>(bytes, 1));
        detail::note_block_begin(moved != nullptr ? moved : block, moved != nullptr ? bytes : process_usable(block));
        return moved;
    }
    void* const fresh = process_allocate(bytes, alignment); // realloc does not preserve alignment
    if (fresh == nullptr) return nullptr;
    std::memcpy(fresh, block, std::min(bytes, process_usable(block)));
    process_deallocate(block);
    return fresh;
}

void process_deallocate(void* block) noexcept {
    detail::note_block_end(block);
    ::free(block);
}

void* aligned_from_malloc(std::size_t bytes, std::size_t alignment) noexcept {
    return ::aligned_alloc(alignment, bytes);
}
void free_aligned(void* block) noexcept { ::free(block); }

std::size_t process_usable(const void* block) noexcept { return ::malloc_usable_size(const_cast<void*>(block)); }

}
