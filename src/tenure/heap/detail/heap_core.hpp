// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of a heap and its slow paths.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/engine/passthrough_blocks.hpp>
#include <tenure/heap/detail/checked/block_states.hpp>
#include <tenure/heap/detail/checked/checked_blocks.hpp>
#include <tenure/heap/detail/checked/fenced_blocks.hpp>
#include <tenure/heap/detail/checked/zero_blocks.hpp>
#include <tenure/heap/detail/guarded/sampled_blocks.hpp>
#include <tenure/heap/detail/guarded_blocks.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/huge_blocks.hpp>
#include <tenure/heap/detail/large_blocks.hpp>
#include <tenure/heap/detail/small/heap_pages.hpp>
#include <tenure/heap/detail/small/heap_shard.hpp>
#include <tenure/heap/detail/small/small_blocks.hpp>
#include <tenure/heap/detail/small/thread_cache.hpp>
#include <tenure/heap/heap_usage.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {
class heap;
}

namespace tenure::inline TENURE_ABI::detail {

/// Whether a heap's blocks come from its own pages or from the process's malloc. Decided once, at the first call.
enum class block_origin : std::uint8_t { unknown, own, malloc };

/// How blocks from malloc are tracked under passthrough: not at all, or in a list for clear() and walk().
enum class passthrough_form : std::uint8_t { plain, listed };

/// The contents of fresh blocks.
enum class fill : std::uint8_t { none, zero };

using block_visitor = void (*)(void* context, void* block, std::size_t bytes);

// The path of a call:
//
//   allocate:   thread cache of the class | a batch from its shard's pages | a page of a segment | the source
//   deallocate: thread cache of the class | a batch to the shards that own the pages | empty pages to the heap
//
// Larger blocks go to large_blocks or huge_blocks, each under one lock. Locks are taken in this order: the purge's,
// small_blocks, a shard, the pages, large, huge, passthrough, guarded, the source. No lock holder calls back into the
// heap.
class TENURE_API heap_core {
public:
    constexpr heap_core(block_source& source, std::size_t segment_bytes, std::size_t limit_bytes,
                        passthrough_form how) noexcept
        : passthrough_form_(how), memory_(source, segment_bytes, limit_bytes), pages_(memory_), large_(memory_),
          huge_(memory_), sampled_(memory_), small_(pages_, this, &make_room_of), checked_(small_, memory_, alone_) {}
    ~heap_core() = default;
    heap_core(const heap_core&) = delete;
    heap_core& operator=(const heap_core&) = delete;

    /// Serves every request that the thread's cache does not serve at once. `cache` is nullptr if the thread has none.
    [[nodiscard]] void* allocate(thread_cache* cache, std::size_t bytes, std::size_t alignment, fill how,
                                 block_form form = block_form::any) noexcept;
    /// The same for a cache that counts, if the thread has a block and it is not one of the profile.
    /// Returns   nullptr if more is to be done.
    [[nodiscard]] void* allocate_counted(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                                         fill how) noexcept;
    void deallocate(thread_cache* cache, void* block) noexcept;
    /// deallocate() with the caller's form and a size, which checked builds compare. The size may be unknown_size.
    void deallocate_as(thread_cache* cache, void* block, block_form form, std::size_t bytes) noexcept;
    [[nodiscard]] void* reallocate(thread_cache* cache, void* block, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] bool resize(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t usable_bytes(const void* block) const noexcept;

    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    /// Whether a block of this heap may begin at the address, which may be any: nothing is read there. Not under
    /// passthrough.
    /// Cost      three loads; one lock in the first segment of a huge block.
    [[nodiscard]] bool may_be_block(const void* address) const noexcept;
    std::size_t trim(thread_cache* cache) noexcept;
    void clear() noexcept;
    /// Tells hooks the end of every block. Requires  as clear().
    void tell_all_ends() noexcept;
    void walk(block_visitor visit, void* context) noexcept;
    [[nodiscard]] bool valid() const noexcept;
    void set_purge_policy(purge_policy how) noexcept;
    /// Limits the bytes in use; zero: no limit. The first refusal writes a report to the standard error of this call.
    void set_use_limit(std::size_t bytes) noexcept;
    /// Returns memory that has been free for the purge delay, if a sweep is due and no thread of the library sweeps.
    /// Cost      two loads when no sweep is due.
    void purge_expired(std::uint64_t now_ns) noexcept;
    /// A sweep by the background thread, whose next one comes before that of any caller.
    sweep_result sweep(sweep_scope scope, std::uint64_t now_ns) noexcept;
    /// Makes every thread empty its caches at its next slow call.
    void shrink_caches() noexcept { small_.start_trim(); }
    /// Whether the background thread may sweep this heap.
    /// Counts what becomes free anew: what has become free so far is not worth the background thread.
    void forget_freed() noexcept { memory_.forget_freed(); }
    [[nodiscard]] bool is_tended() const noexcept { return memory_.is_shared() && is_tended_; }
    void set_tended(bool tended) noexcept { is_tended_ = tended; }
    /// purge_expired() now. A heap that has little memory has nothing worth a look at the clock, whose first call in a
    /// process costs two page faults.
    void purge_expired() noexcept {
        constexpr std::size_t little = 2 * segment_step_bytes;
        if (memory_.reserved_bytes() > little) purge_expired(platform::coarse_ns());
    }
    [[nodiscard]] std::uint64_t sweep_every_ns() const noexcept { return sweep_every_ns_.load(memory_order::relaxed); }

    [[nodiscard]] allocator_stats stats() const noexcept;
    [[nodiscard]] heap_usage usage() const noexcept;
    /// Blocks in use that were allocated under a tag. Exact only while no thread is running.
    [[nodiscard]] tagged_usage usage_of_tag(std::uint16_t tag) const noexcept;
    /// At least the bytes in use under a tag: also what threads have cached of it. `cache` is the calling thread's.
    [[nodiscard]] std::size_t held_by_tag(std::uint16_t tag, const thread_cache* cache) const noexcept;
    /// Returns what the calling thread has cached for the tag to its pages.
    void return_cached(thread_cache* cache, std::uint16_t tag) noexcept;
    [[nodiscard]] class_usage usage_of(std::size_t class_index) const noexcept { return small_.usage_of(class_index); }
    [[nodiscard]] std::size_t cached_count(std::size_t class_index) const noexcept {
        return small_.usage_of(class_index).cached;
    }
    /// Begins or ends counting allocations for the heap profile.
    void count_allocations(bool are_counted) noexcept { small_.count_allocations(are_counted); }
    /// What each OS page that is in memory is used for, for the file of a profile.
    /// Cost      O(OS pages of the heap). Locks are held for one page at a time, but those of large and huge blocks
    ///           throughout, and sweeps wait.
    void map_pages(page_map& to) const noexcept;
    /// A block as the profile counts it.
    struct profiled_block {
        std::uint64_t bytes; ///< that it takes from the heap
        bool is_small;       ///< of a page
        bool is_of_class;    ///< the thread that allocated it has counted it for a class, if it counts
    };
    [[nodiscard]] profiled_block profiled(const void* block, std::size_t asked_bytes) const noexcept;
    /// Frees a block of a watched page, in most cases beside one of the profile. Returns   false if more is to be done.
    [[nodiscard]] bool push_watched(const thread_cache& any, void* block) const noexcept {
        return any.is_counting && small_.push_watched(*any.main, block);
    }
    void watch(const void* block) noexcept { pages_.watch(block); }
    void unwatch(const void* block) noexcept { pages_.unwatch(block); }
    [[nodiscard]] checked_blocks& checked() noexcept { return checked_; }
    [[nodiscard]] const heap_memory& memory() const noexcept { return memory_; }
    [[nodiscard]] const large_blocks& large() const noexcept { return large_; }
    [[nodiscard]] const huge_blocks& huge() const noexcept { return huge_; }
    [[nodiscard]] const fenced_blocks& fenced() const noexcept { return fenced_; }
    [[nodiscard]] const sampled_blocks& sampled() const noexcept { return sampled_; }
    [[nodiscard]] const guarded_blocks& guarded() const noexcept { return guarded_; }

    /// Opens a cache for the calling thread's allocations under `tag`, or under no tag if it is zero.
    /// Returns   nullptr when out of memory, when too many tags have pages of their own, and where all calls must take
    ///           the slow path.
    [[nodiscard]] thread_cache* open_cache(std::uint16_t tag = 0) noexcept;
    /// Closes the cache of a thread that ends.
    void close_cache(thread_cache& cache) noexcept {
        small_.close_cache(cache);
        purge_expired();
    }
    /// Closes caches that an earlier thread abandoned, if its thread-local state was at the calling thread's address.
    /// Requires  the calling thread has no cache.
    void close_abandoned() noexcept { small_.close_abandoned(); }

    /// Handlers around fork(). The first takes every lock, the second releases them in the parent, the third in the
    /// child, which has only the forking thread. The caches of the other threads keep their blocks for the child's own
    /// threads or the next trim, because most children soon run another program. `mine` is the calling thread's cache.
    void before_fork() noexcept;
    void after_fork_in_parent() noexcept;
    void after_fork_in_child(const thread_cache* mine) noexcept;

    /// Whether the calling thread holds one of the heap's locks. A signal handler that interrupted a holder must not
    /// call the heap, not even for statistics. Takes no lock.
    [[nodiscard]] bool holds_lock() const noexcept;
    /// Whether the locks that statistics need become free in that time.
    [[nodiscard]] bool is_free(platform::lock_patience& patience) const noexcept;

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    [[nodiscard]] block_origin origin() noexcept {
        const block_origin chosen = origin_.load(memory_order::relaxed);
        return chosen != block_origin::unknown ? chosen : choose_origin();
    }
    block_origin choose_origin() noexcept;

    TENURE_COLD void return_free_memory() noexcept;
    TENURE_COLD void report_refusal(std::size_t bytes) noexcept;
    [[nodiscard]] std::uint8_t class_number_of(const void* block, std::uint8_t number) const noexcept;
    [[nodiscard]] void* allocate_own(thread_cache* cache, std::uint16_t tag, std::size_t bytes, std::size_t alignment,
                                     fill how, block_form form) noexcept;
    [[nodiscard]] void* allocate_past_small(thread_cache* cache, std::uint16_t tag, std::size_t bytes,
                                            std::size_t alignment, fill how) noexcept;
    /// The tag of a request: that of the cache, or that of the thread where it has no cache for it.
    [[nodiscard]] std::uint16_t tag_of_request(const thread_cache* cache) const noexcept;
    /// Whether the budget of the block's tag allows it to grow in place.
    [[nodiscard]] bool may_grow(const void* block, std::size_t bytes, std::uint8_t number) noexcept;
    /// Whether the request that the thread has just made is to be a guarded block.
    [[nodiscard]] bool is_sample_due(const thread_cache* cache) const noexcept {
        return !checks::caller && cache != nullptr && cache->bytes_to_sample <= 0;
    }
    [[nodiscard]] TENURE_COLD void* sample(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                                           fill how) noexcept;
    [[nodiscard]] void* reallocate_by_copy(thread_cache* cache, void* block, std::size_t bytes, std::size_t alignment,
                                           std::size_t usable) noexcept;
    void note_size(const void* block, std::size_t bytes) noexcept;
    [[nodiscard]] bool resize_untold(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] bool resize_to(void* block, std::size_t bytes, std::uint8_t number) noexcept;
    // Larger blocks of all tags share segments, so each block carries its tag, and their totals are counted separately.
    // Differences wrap around.
    static void count_tagged(std::uint16_t tag, std::size_t count, std::size_t bytes) noexcept;
    static void uncount_tagged(freed_block freed) noexcept {
        if (freed.tag != 0) count_tagged(freed.tag, std::size_t{0} - 1, std::size_t{0} - freed.bytes);
    }
    static void forget_tagged() noexcept;
    [[nodiscard]] std::size_t larger_bytes(const void* block, std::uint8_t number) const noexcept;
    [[nodiscard]] bool is_profiled() const noexcept;
    /// Whether a block of a slice with this number may be in the heap profile.
    [[nodiscard]] bool may_be_profiled(const void* block, std::uint8_t number) const noexcept;
    sweep_result sweep_all(sweep_scope scope, std::uint64_t now_ns) noexcept;
    void make_room(thread_cache* cache, twice_freed& noted) noexcept;
    static void make_room_of(void* heap, thread_cache* cache, twice_freed& noted) noexcept {
        static_cast<heap_core*>(heap)->make_room(cache, noted);
    }
    [[nodiscard]] head_kind kind_of_head(const void* block) const noexcept;
    [[nodiscard]] bool is_passthrough(const void* block) const noexcept;
    [[nodiscard]] std::uint8_t slice_number_of(const void* block) const noexcept;
    template<class Visit>
    void for_each_inner_lock(Visit&& visit) noexcept;

    // Checked builds only: heap_checked.cpp.
    [[nodiscard]] bool resize_checked(void* block, std::size_t bytes, std::uint8_t number) noexcept;
    [[nodiscard]] void* sample_guarded(thread_cache& cache, std::size_t bytes, std::size_t alignment, fill how,
                                       block_form form) noexcept;
    [[nodiscard]] void* set_canary(void* block, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t whole_bytes(const void* block, std::uint8_t number) const noexcept;
    [[nodiscard]] std::size_t checked_bytes(const void* block, std::uint8_t number) const noexcept;
    /// The requested size, or what the block could hold if its canary was overwritten and nobody looks at canaries.
    [[nodiscard]] std::size_t asked_or_whole(const void* block, std::uint8_t number) const noexcept;
    [[nodiscard]] bool check_block(const void* block, std::uint8_t number, std::string_view what_for,
                                   block_form form = block_form::any) const noexcept;
    void report_unsound(const void* block, std::uint8_t number, block_finding found, std::string_view what_for,
                        block_form form) const noexcept;
    [[nodiscard]] bool retire(void* block, std::uint8_t number) noexcept;
    [[nodiscard]] bool check_size(const void* block, std::size_t bytes) const noexcept;
    /// Between guard pages, if the block is large enough and of the process heap. Returns nullptr otherwise.
    [[nodiscard]] void* allocate_fenced(const thread_cache* cache, std::size_t bytes, std::size_t alignment,
                                        fill how) noexcept;
    [[nodiscard]] bool resize_fenced(void* block, std::size_t bytes) noexcept;
    void deallocate_fenced(void* block) noexcept;
    void deallocate_zero(const void* block, std::string_view what_for) noexcept;
    void check_alone(std::string_view what) const noexcept;

    [[nodiscard]] void* allocate_passthrough(std::size_t bytes, std::size_t alignment, fill how) noexcept;
    void deallocate_passthrough(void* block) noexcept;
    [[nodiscard]] std::size_t passthrough_bytes(const void* block) const noexcept;

    const passthrough_form passthrough_form_;
    passthrough_blocks passthrough_;
    heap_memory memory_;
    heap_pages pages_;
    large_blocks large_;
    huge_blocks huge_;
    guarded_blocks guarded_; ///< used by checked builds only
    sampled_blocks sampled_; ///< used by the process heap of plain builds only
    zero_blocks zero_;       ///< used by checked builds only
    fenced_blocks fenced_;   ///< used by checked builds only
    small_blocks small_;
    checked_blocks checked_; ///< used by checked builds only
    // Relaxed: a compare-exchange decides once, and only the value is read.
    atomic<block_origin> origin_{block_origin::unknown};
    mutable platform::mutex
        purge_mutex_;        ///< held by whatever releases segments, and by a sweep of one; taken before all others
    bool is_walked_ = false; ///< a walk goes on, which no sweep may disturb
    bool is_tended_ = true;
    // Relaxed: times. A compare-exchange elects who sweeps, and a sweep takes the locks.
    atomic<std::uint64_t> next_sweep_ns_{0};
    atomic<std::uint64_t> sweep_every_ns_{50'000'000};
    std::uint64_t swept_at_ns_ = 0; ///< by the background thread
    std::size_t young_bytes_ = 0;   ///< that it found then
    // Relaxed: a mistake that it finds is a race of the program.
    atomic<std::uint64_t> alone_{0}; ///< the thread that walks or clears, in checked builds
};

/// The parts of a heap: for statistics of the drop-in and for tests.
[[nodiscard]] TENURE_API const heap_core& core_of(const heap& of) noexcept;

/// The report at the end of the program leaves a heap out: another object reports its blocks.
TENURE_API void leave_leak_check(const heap& of) noexcept;
}
