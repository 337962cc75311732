// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/small_object.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/pool/shared_block_pool.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

// Sizes: 8, 16 ... 128 | 144, 160 ... 1024 | then four per doubling, 1280, 1536, 1792, 2048 ... 32768.
constexpr std::size_t fine_limit = 128;
constexpr std::size_t middle_limit = 1024;
constexpr std::size_t small_limit = 32768;
constexpr std::size_t fine_count = fine_limit / 8;
constexpr std::size_t middle_count = (middle_limit - fine_limit) / 16;
constexpr std::size_t size_count = fine_count + middle_count + 4 * 5;
// Blocks start at a multiple of a cache line, so sizes that are multiples of an alignment up to that preserve it.
constexpr std::size_t alignment_limit = cache_line_bytes;

constexpr std::size_t index_of_size(std::size_t bytes) noexcept {
    if (bytes <= fine_limit) return (bytes + 7) / 8 - 1;
    if (bytes <= middle_limit) return fine_count + (bytes - fine_limit + 15) / 16 - 1;
    const std::size_t doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1; // 10 for 1025 to 2048
    const std::size_t quarter = (bytes - 1 - (std::size_t{1} << doubling)) >> (doubling - 2);
    return fine_count + middle_count + (doubling - 10) * 4 + quarter;
}

constexpr std::size_t size_of_index(std::size_t index) noexcept {
    if (index < fine_count) return (index + 1) * 8;
    if (index < fine_count + middle_count) return fine_limit + (index - fine_count + 1) * 16;
    const std::size_t past = index - fine_count - middle_count;
    return (std::size_t{1} << (10 + past / 4)) / 4 * (5 + past % 4);
}

constexpr bool sizes_are_consistent() noexcept {
    for (std::size_t index = 0; index < size_count; ++index) {
        if (index_of_size(size_of_index(index)) != index) return false;
        if (index + 1 < size_count && index_of_size(size_of_index(index) + 1) != index + 1) return false;
    }
    return size_of_index(size_count - 1) == small_limit;
}
static_assert(sizes_are_consistent());

// One pool per size, created with its first object and never destroyed: objects of static duration may be deleted last.
struct size_pool {
    std::atomic<shared_block_pool*> made{nullptr}; // released with the pool, under a lock; acquired by pool_of()
    alignas(shared_block_pool) unsigned char memory[sizeof(shared_block_pool)];
};
constinit size_pool all[size_count]{};

/// Returns   nullptr when out of memory; a later call tries again.
TENURE_COLD shared_block_pool* make_pool(std::size_t index) noexcept {
    const platform::lock_guard lock(platform::making_mutex());
    size_pool& place = all[index];
    if (shared_block_pool* const present = place.made.load(std::memory_order_relaxed); present != nullptr)
        return present;
    const std::size_t bytes = size_of_index(index);
    const std::size_t alignment = std::min(bytes & (~bytes + 1), alignment_limit);
    auto* const pool = new (place.memory) shared_block_pool(bytes, alignment);
    if (!pool->is_usable()) return nullptr; // it holds nothing: the next one may be constructed over it
    place.made.store(pool, std::memory_order_release);
    return pool;
}

shared_block_pool* pool_of(std::size_t index) noexcept {
    shared_block_pool* const pool = all[index].made.load(std::memory_order_acquire);
    return pool != nullptr ? pool : make_pool(index);
}

// Chosen once: a block must be freed where it was allocated. A check costs one load.
enum class origin : unsigned char { unknown, pools, malloc };
// Relaxed: a compare-exchange decides once, and only the value is read.
constinit std::atomic<origin> chosen_origin{origin::unknown};

TENURE_COLD bool choose_origin() noexcept {
    const origin wanted = passthrough_enabled(part::small_object) ? origin::malloc : origin::pools;
    origin chosen = origin::unknown; // another thread, or an earlier call, may have chosen already
    if (chosen_origin.compare_exchange_strong(chosen, wanted, std::memory_order_relaxed)) chosen = wanted;
    return chosen == origin::malloc;
}

bool is_passthrough() noexcept {
    const origin chosen = chosen_origin.load(std::memory_order_relaxed);
    return chosen == origin::pools ? false : choose_origin();
}

/// Whether a pool serves this size and alignment. Sets `bytes` to the size to request from it.
bool is_small(std::size_t& bytes, std::size_t alignment) noexcept {
    if (bytes > small_limit || alignment > alignment_limit || is_passthrough()) return false;
    bytes = align_up(std::max<std::size_t>(bytes, 1), alignment);
    return bytes <= small_limit;
}

template<class Visit>
void for_each_pool(Visit&& visit) {
    for (size_pool& each : all) {
        shared_block_pool* const pool = each.made.load(std::memory_order_acquire);
        if (pool != nullptr) visit(*pool);
    }
}

}

void* detail::allocate_small(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const promised_allocation allocation("of a small_object", bytes);
    if (is_small(bytes, alignment)) {
        shared_block_pool* const pool = pool_of(index_of_size(bytes));
        return pool != nullptr ? pool->allocate() : nullptr;
    }
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most) return nullptr;
    const std::size_t actual = std::max(alignment, default_alignment);
    return host::aligned_from_malloc(align_up(std::max<std::size_t>(bytes, 1), actual), actual);
}

void detail::deallocate_small(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (block == nullptr) return;
    [[maybe_unused]] const promised_release release("a small_object", block);
    if (is_small(bytes, alignment)) {
        // Without a pool there is no block of it, but for nullptr.
        if (shared_block_pool* const pool = pool_of(index_of_size(bytes)); pool != nullptr) pool->deallocate(block);
        return;
    }
    host::free_aligned(block);
}

void detail::deallocate_small_unsized(void* block) noexcept {
    if (block == nullptr) return;
    [[maybe_unused]] const promised_release release("a small_object", block);
    bool found = false;
    for_each_pool([&](shared_block_pool& pool) {
        if (found || !pool.owns(block)) return;
        found = true;
        pool.deallocate(block);
    });
    if (!found) host::free_aligned(block);
}

std::size_t small_object::trim() noexcept {
    std::size_t bytes = 0;
    for_each_pool([&](shared_block_pool& pool) { bytes += pool.trim(); });
    return bytes;
}

allocator_stats small_object::stats() noexcept {
    allocator_stats sum;
    for_each_pool([&](shared_block_pool& pool) {
        const allocator_stats one = pool.stats();
        sum.live_count += one.live_count;
        sum.live_bytes += one.live_bytes;
        sum.peak_bytes += one.peak_bytes;
        sum.reserved_bytes += one.reserved_bytes;
        sum.source_blocks += one.source_blocks;
    });
    return sum;
}

}
