// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/platform/process.hpp>

// A head in front of each block, because the C library tells neither the size of an aligned block nor whether it is
// one. Blocks without it come from the program's own calls of malloc.

namespace tenure::inline TENURE_ABI::host {

namespace {

constexpr std::size_t max_bytes = max_object_bytes / 4;

struct alignas(default_alignment) block_head {
    void* from_malloc;
    std::size_t bytes;
    std::uint64_t mark;
};

[[nodiscard]] std::uint64_t mark_of(const void* block) noexcept {
    return (address_of(block) ^ platform::random_of_process()) * 0x9E37'79B9'7F4A'7C15;
}
/// nullptr if the block has none. What lies in front of a block of malloc can be read: it is malloc's own head.
[[nodiscard]] block_head* head_of_block(void* block) noexcept {
    block_head* const head = static_cast<block_head*>(block) - 1;
    return head->mark == mark_of(block) ? head : nullptr;
}

[[nodiscard]] void* allocate_with_head(std::size_t bytes, std::size_t alignment, bool is_zeroed) noexcept {
    if (bytes > max_bytes || alignment > max_bytes) return nullptr;
    const std::size_t actual = std::max(alignment, default_alignment);
    const std::size_t wanted = std::max<std::size_t>(bytes, 1);
    const std::size_t whole = sizeof(block_head) + wanted + (actual - default_alignment);
    void* const memory = is_zeroed ? ::calloc(1, whole) : ::malloc(whole);
    if (memory == nullptr) return nullptr;
    void* const block = pointer_at(align_up(address_of(memory) + sizeof(block_head), actual));
    static_cast<block_head*>(block)[-1] = {memory, wanted, mark_of(block)};
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
    if (block != nullptr && head_of_block(block) == nullptr) return ::realloc(block, std::max<std::size_t>(bytes, 1));
    void* const fresh = allocate_with_head(bytes, alignment, false);
    if (fresh == nullptr || block == nullptr) return fresh;
    std::memcpy(fresh, block, std::min(bytes, process_usable(block)));
    process_deallocate(block);
    return fresh;
}

void process_deallocate(void* block) noexcept {
    if (block == nullptr) return;
    detail::note_block_end(block);
    block_head* const head = head_of_block(block);
    if (head == nullptr) return ::free(block);
    head->mark = 0;
    ::free(head->from_malloc);
}

void* aligned_from_malloc(std::size_t bytes, std::size_t alignment) noexcept {
    return ::_aligned_malloc(bytes, alignment);
}
void free_aligned(void* block) noexcept { ::_aligned_free(block); }

std::size_t process_usable(const void* block) noexcept {
    if (block == nullptr) return 0;
    const block_head* const head = head_of_block(const_cast<void*>(block));
    return head != nullptr ? head->bytes : ::_msize(const_cast<void*>(block));
}

}
