// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/hooks.hpp>

// A head in front of each block, because the C library tells neither the size of an aligned block nor whether it is
// one.

namespace tenure::inline TENURE_ABI::host {

namespace {

constexpr std::size_t max_bytes = max_object_bytes / 4;

struct block_head {
    void* from_malloc;
    std::size_t bytes;
};
static_assert(sizeof(block_head) == default_alignment);

[[nodiscard]] block_head& head_of_block(void* block) noexcept { return static_cast<block_head*>(block)[-1]; }

[[nodiscard]] void* allocate_with_head(std::size_t bytes, std::size_t alignment, bool is_zeroed) noexcept {
    if (bytes > max_bytes || alignment > max_bytes) return nullptr;
    const std::size_t actual = std::max(alignment, default_alignment);
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    const std::size_t whole = sizeof(block_head) + wanted + (actual - default_alignment);
    void* const memory = is_zeroed ? ::calloc(1, whole) : ::malloc(whole);
    if (memory == nullptr) return nullptr;
    void* const block = pointer_at(align_up(address_of(memory) + sizeof(block_head), actual));
    head_of_block(block) = {memory, wanted};
    detail::note_block_begin(block, bytes);
    return block;
}

}

void* process_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_with_head(bytes, alignment, false);
}

void* process_allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_with_head(bytes, alignment, true);
}

void* process_reallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    void* const fresh = allocate_with_head(bytes, alignment, false);
    if (fresh == nullptr) return nullptr;
    std::memcpy(fresh, block, std::min(bytes, process_usable(block)));
    process_deallocate(block);
    return fresh;
}

void process_deallocate(void* block) noexcept {
    if (block == nullptr) return;
    detail::note_block_end(block);
    ::free(head_of_block(block).from_malloc);
}

void* aligned_from_malloc(std::size_t bytes, std::size_t alignment) noexcept {
    return ::_aligned_malloc(bytes, alignment);
}
void free_aligned(void* block) noexcept { ::_aligned_free(block); }

std::size_t process_usable(const void* block) noexcept {
    return block != nullptr ? head_of_block(const_cast<void*>(block)).bytes : 0;
}

}
