// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/direct_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/host.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/detail/job_blocks.hpp>
#include <tenure/lifetime/detail/job_guards.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// A hash table by address, so that a free can look up any number of blocks in O(1).
constexpr std::size_t first_buckets = 64;
struct direct_table {
    platform::mutex mutex;
    direct_block* few[first_buckets]{};
    direct_block** buckets = few;
    std::size_t bucket_count = first_buckets; ///< a power of two
    std::size_t block_count = 0;
};
constinit direct_table blocks{};

direct_block*& bucket_of(direct_block** buckets, std::size_t count, std::uintptr_t bytes_at) noexcept {
    return buckets[(bytes_at / default_alignment * 0x9E37'79B9'7F4A'7C15) >> 32 & (count - 1)];
}

template<class Visit>
void for_each_listed(Visit&& visit) {
    for (std::size_t index = 0; index < blocks.bucket_count; ++index) {
        for (direct_block* block = blocks.buckets[index]; block != nullptr;) {
            direct_block* const next = block->next;
            visit(*block);
            block = next;
        }
    }
}

std::size_t table_bytes(std::size_t bucket_count) noexcept {
    return align_up(bucket_count * sizeof(void*), platform::page_bytes());
}

/// Quadruples the number of buckets; keeps the table as it is when out of memory.
void grow() noexcept {
    const std::size_t count = 4 * blocks.bucket_count;
    auto* const fresh = static_cast<direct_block**>(platform::map(table_bytes(count), cache_line_bytes));
    if (fresh == nullptr) return;
    for_each_listed([&](direct_block& block) {
        direct_block*& first = bucket_of(fresh, count, block.bytes_at());
        block.next = first;
        first = &block;
    });
    platform::add_leak_root(fresh, table_bytes(count));
    if (blocks.buckets != blocks.few) {
        platform::remove_leak_root(blocks.buckets, table_bytes(blocks.bucket_count));
        platform::unreserve(blocks.buckets, table_bytes(blocks.bucket_count));
    }
    blocks.buckets = fresh;
    blocks.bucket_count = count;
}

/// The link that points to the block; it is nullptr if the block is not listed. Requires  the lock.
direct_block** link_of(std::uintptr_t bytes_at) noexcept {
    direct_block** link = &bucket_of(blocks.buckets, blocks.bucket_count, bytes_at);
    while (*link != nullptr && (*link)->bytes_at() != bytes_at) link = &(*link)->next;
    return link;
}

constexpr std::size_t tail_bytes = checks::caller ? default_alignment + tail_guard_bytes : 0;
constexpr std::size_t lead_bytes = sizeof(direct_block) + temp_job::prefix_bytes;

direct_block& block_of(void* block) noexcept {
    return *static_cast<direct_block*>(pointer_at(address_of(block) - lead_bytes));
}

}

platform::mutex& direct_mutex() noexcept { return blocks.mutex; }

std::uintptr_t direct_block::bytes_at() const noexcept { return address_of(this) + lead_bytes; }

void* allocate_direct(std::size_t bytes, std::size_t alignment, std::uint64_t word, direct_home home) noexcept {
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most) return nullptr;
    const std::size_t actual = std::max(alignment, default_alignment);
    const std::size_t total = align_up(lead_bytes + actual + std::max<std::size_t>(bytes, 1) + tail_bytes, actual);
    void* const memory =
        home == direct_home::malloc ? host::process_allocate(total, actual) : process_allocate(total, actual);
    if (memory == nullptr) return nullptr;
    const std::uintptr_t address = align_up(address_of(memory) + lead_bytes, actual);
    new (pointer_at(address - lead_bytes)) direct_block{nullptr, memory, total, bytes, home, frame_clock::now(), false};
    const bool is_large = bytes > temp_job_word::size_mask;
    header_of(address).store(word | temp_job_word::direct | (is_large ? temp_job_word::large : bytes),
                             std::memory_order_relaxed);
    return pointer_at(address);
}

void list_direct(void* pointer) noexcept {
    direct_block& block = block_of(pointer);
    const platform::lock_guard lock(blocks.mutex);
    if (blocks.block_count++ >= blocks.bucket_count) grow();
    direct_block*& first = bucket_of(blocks.buckets, blocks.bucket_count, address_of(pointer));
    block.next = first;
    first = &block;
}

void free_direct(void* pointer) noexcept {
    direct_block& block = block_of(pointer);
    bool is_listed = false;
    {
        const platform::lock_guard lock(blocks.mutex);
        direct_block** const link = link_of(address_of(pointer));
        is_listed = *link != nullptr;
        if (is_listed) {
            *link = block.next;
            --blocks.block_count;
        }
    }
    if (!is_listed) return report_no_live_job(pointer);
    void* const memory = block.memory;
    if constexpr (checks::caller) drop_job_guards(pointer, block.bytes);
    block.home == direct_home::malloc ? host::process_deallocate(memory) : process_deallocate(memory);
}

void for_each_direct(void (*visit)(void*, direct_block&), void* context) noexcept {
    const platform::lock_guard lock(blocks.mutex);
    for_each_listed([&](direct_block& block) { visit(context, block); });
}

bool owns_direct(const void* pointer) noexcept {
    const platform::lock_guard lock(blocks.mutex);
    bool found = false;
    for_each_listed([&](const direct_block& block) {
        found = found || address_of(pointer) - address_of(block.memory) < block.total_bytes;
    });
    return found;
}

bool is_direct(std::uintptr_t bytes_at) noexcept {
    const platform::lock_guard lock(blocks.mutex);
    return *link_of(bytes_at) != nullptr;
}

}
