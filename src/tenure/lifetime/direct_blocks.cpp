// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/direct_blocks.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/lifetime/chunk_supply.hpp>
#include <tenure/lifetime/job_blocks.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct direct_list {
    std::mutex mutex;
    direct_block* first = nullptr;
};
constinit direct_list blocks{};

constexpr std::size_t lead_bytes = sizeof(direct_block) + temp_job::prefix_bytes;

direct_block& block_of(void* block) noexcept {
    return *static_cast<direct_block*>(pointer_at(address_of(block) - lead_bytes));
}

}

std::uintptr_t direct_block::bytes_at() const noexcept { return address_of(this) + lead_bytes; }

void* allocate_direct(std::size_t bytes, std::size_t alignment, std::uint64_t word, bool from_malloc) noexcept {
    std::size_t const actual = std::max(alignment, default_alignment);
    std::size_t const total = align_up(lead_bytes + actual + std::max<std::size_t>(bytes, 1), actual);
    block_source* const source = from_malloc ? nullptr : &process_chunks.source();
    void* const memory = from_malloc ? std::aligned_alloc(actual, total) : source->acquire(total, actual);
    if (memory == nullptr) return nullptr;
    std::uintptr_t const address = align_up(address_of(memory) + lead_bytes, actual);
    new (pointer_at(address - lead_bytes)) direct_block{nullptr, nullptr, memory, total, bytes, source, false};
    bool const is_large = bytes > temp_job_word::size_mask;
    header_of(address).store(word | temp_job_word::direct | (is_large ? temp_job_word::large : bytes),
                             std::memory_order_relaxed);
    return pointer_at(address);
}

void list_direct(void* pointer) noexcept {
    direct_block& block = block_of(pointer);
    std::lock_guard const lock(blocks.mutex);
    block.next = blocks.first;
    if (blocks.first != nullptr) blocks.first->previous = &block;
    blocks.first = &block;
}

void free_direct(void* pointer) noexcept {
    direct_block& block = block_of(pointer);
    {
        std::lock_guard const lock(blocks.mutex);
        (block.previous != nullptr ? block.previous->next : blocks.first) = block.next;
        if (block.next != nullptr) block.next->previous = block.previous;
    }
    if (block.source == nullptr) return std::free(block.memory); // NOLINT: from aligned_alloc above
    block.source->release(block.memory, block.total_bytes);
}

void for_each_direct(void (*visit)(void*, direct_block&), void* context) noexcept {
    std::lock_guard const lock(blocks.mutex);
    for (direct_block* block = blocks.first; block != nullptr; block = block->next) visit(context, *block);
}

bool owns_direct(const void* pointer) noexcept {
    std::lock_guard const lock(blocks.mutex);
    for (direct_block const* block = blocks.first; block != nullptr; block = block->next) {
        if (address_of(pointer) - address_of(block->memory) < block->total_bytes) return true;
    }
    return false;
}

}
