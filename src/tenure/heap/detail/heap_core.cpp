// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/block_guard.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// More shards than running threads do not help, and each shard keeps its own pages.
constexpr std::size_t shards_per_processor = 4;

// Each tag that allocates has its own pages: at least one per size.
constexpr std::size_t max_tags = 256;

[[nodiscard]] std::size_t page_rounded(std::size_t bytes) noexcept { return align_up(bytes, platform::page_bytes()); }

}

heap_core::~heap_core() {
    while (caches_ != nullptr) {
        thread_cache* const cache = caches_;
        caches_ = cache->next;
        if (cache->arrays != nullptr) platform::unreserve(cache->arrays, page_rounded(array_area_bytes));
        platform::unreserve(cache, page_rounded(sizeof(thread_cache)));
    }
    while (shards_ != &first_shard_) {
        heap_shard* const shard = shards_;
        shards_ = shard->next;
        platform::unreserve(shard, page_rounded(sizeof(heap_shard)));
    }
}

TENURE_COLD block_origin heap_core::choose_origin() noexcept {
    // Requests before the process has its environment are served and decide nothing.
    if (!host::has_environment()) return block_origin::own;
    block_origin const wanted = passthrough_enabled(part::heap) ? block_origin::malloc : block_origin::own;
    block_origin chosen = block_origin::unknown; // another thread may have chosen already
    if (origin_.compare_exchange_strong(chosen, wanted, std::memory_order_relaxed)) chosen = wanted;
    return chosen;
}

void* heap_core::allocate_passthrough(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    if (passthrough_form_ == passthrough_form::plain) {
        return how == fill::zero ? host::process_allocate_zeroed(bytes, alignment)
                                 : host::process_allocate(bytes, alignment);
    }
    void* const block = passthrough_.allocate(bytes, alignment);
    if (block != nullptr && how == fill::zero) std::memset(block, 0, bytes);
    return block;
}

void heap_core::deallocate_passthrough(void* block) noexcept {
    passthrough_form_ == passthrough_form::plain ? host::process_deallocate(block) : passthrough_.deallocate(block);
}

std::size_t heap_core::passthrough_bytes(const void* block) const noexcept {
    return passthrough_form_ == passthrough_form::plain ? host::process_usable(block) : passthrough_.bytes_of(block);
}

/// Requires  the lock.
/// Returns   nullptr when out of memory.
heap_shard* heap_core::add_shard(std::uint16_t tag) noexcept {
    void* const memory = platform::map(page_rounded(sizeof(heap_shard)), cache_line_bytes);
    if (memory == nullptr) return nullptr;
    auto* const shard = new (memory) heap_shard(pages_, tag);
    shard->next = shards_;
    shards_ = shard;
    ++(tag == 0 ? shard_count_ : tag_count_);
    return shard;
}

/// Finds a shard that no thread uses, adds one, or picks the least used.
/// Requires  the lock.
heap_shard* heap_core::shard_for_thread() noexcept {
    heap_shard* best = &first_shard_;
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        if (shard->tag == 0 && shard->user_count < best->user_count) best = shard;
    }
    bool const may_add = best->user_count != 0 && shard_count_ < shards_per_processor * platform::processor_count();
    heap_shard* const added = may_add ? add_shard(0) : nullptr;
    return added != nullptr ? added : best;
}

/// The tag's own shard; nullptr when too many tags have one.
/// Requires  the lock.
heap_shard* heap_core::shard_for_tag(std::uint16_t tag) noexcept {
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
        if (shard->tag == tag) return shard;
    }
    return tag_count_ < max_tags ? add_shard(tag) : nullptr;
}

thread_cache* heap_core::open_cache(std::uint16_t tag) noexcept {
    // No cache while the origin is undecided either: under passthrough, malloc's blocks must not enter a cache.
    bool const is_undecided =
        origin() == block_origin::own && origin_.load(std::memory_order_relaxed) == block_origin::unknown;
    if (is_undecided || origin() == block_origin::malloc) return nullptr;
    twice_freed noted;
    platform::lock_guard const lock(mutex_);
    heap_shard* const shard = tag == 0 ? shard_for_thread() : shard_for_tag(tag);
    if (shard == nullptr) return nullptr;
    thread_cache* cache = unused_;
    if (cache != nullptr) {
        unused_ = cache->next_unused;
        if (cache->tag != 0 || tag != 0) empty(*cache, noted); // in the child of a fork, unused caches hold blocks
    } else {
        void* const memory = platform::map(page_rounded(sizeof(thread_cache)), cache_line_bytes);
        if (memory == nullptr) return nullptr;
        cache = new (memory) thread_cache; // pages are zeroed, and the arrays of blocks need no construction
        cache->next = caches_;
        caches_ = cache;
    }
    cache->is_used = true;
    cache->trims_seen = trims_.load(std::memory_order_relaxed);
    if (tag != 0 && cache->arrays == nullptr) {
        cache->arrays = static_cast<void**>(platform::map(page_rounded(array_area_bytes), cache_line_bytes));
        if (cache->arrays == nullptr) {
            cache->is_used = false;
            cache->next_unused = unused_;
            unused_ = cache;
            return nullptr;
        }
    }
    if (tag != 0) { // no room for an inline free: see deallocate_tagged()
        for (block_cache& blocks : cache->of_class) blocks.capacity = 0;
    }
    cache->tag = tag;
    cache->thread = &platform::this_thread_slots;
    cache->main = cache;
    cache->next_of_thread = nullptr;
    cache->shard = shard;
    ++shard->user_count;
    used_.add(*cache);
    return cache;
}

void heap_core::close_cache(thread_cache& cache) noexcept {
    twice_freed noted;
    platform::lock_guard const lock(mutex_); // so that statistics see each block either cached or free
    empty(cache, noted);
    retire_cache(cache);
}

void heap_core::close_abandoned() noexcept {
    platform::lock_guard const lock(mutex_);
    while (thread_cache* const cache = used_.find(&platform::this_thread_slots)) retire_cache(*cache);
}

/// Requires  the lock.
void heap_core::retire_cache(thread_cache& cache) noexcept {
    --cache.shard->user_count;
    used_.remove(cache);
    cache.is_used = false;
    cache.next_unused = unused_;
    unused_ = &cache;
}

/// Returns the oldest blocks of a cache to their pages. They leave the cache first, so that no block is ever in both
/// places, and the child of a fork may take over the caches of threads that it does not have.
void heap_core::flush(block_cache& blocks, std::size_t count, twice_freed& noted) const noexcept {
    std::uint32_t const before = blocks.count.load(std::memory_order_relaxed);
    auto const rest = static_cast<std::uint32_t>(before - count);
    blocks.count.store(0, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    heap_shard::flush(blocks.blocks, count, memory_.segment_bytes(), noted);
    std::memmove(blocks.blocks, blocks.blocks + count, rest * sizeof(void*));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    blocks.count.store(rest, std::memory_order_relaxed);
}

void heap_core::empty(thread_cache& cache, twice_freed& noted) const noexcept {
    for (std::size_t index = 0; index < small_class_count; ++index) {
        block_cache& blocks = cache.of_class[index];
        std::uint32_t const count = blocks.count.load(std::memory_order_relaxed);
        if (count != 0) flush(blocks, count, noted);
        if (blocks.capacity > first_capacity) blocks.capacity = first_capacity; // must grow again
    }
}

/// Empties the cache if the heap was trimmed since its thread last called this.
void heap_core::follow_trims(thread_cache& cache) const noexcept {
    std::uint32_t const trims = trims_.load(std::memory_order_relaxed);
    if (cache.trims_seen == trims) return;
    cache.trims_seen = trims;
    twice_freed noted;
    empty(cache, noted);
}

/// Makes more room for a class.
/// Returns   whether there is more room than before.
bool heap_core::grow(thread_cache& cache, std::size_t class_index) const noexcept {
    block_cache& blocks = cache.of_class[class_index];
    std::uint32_t const most = max_cached(class_index);
    if (blocks.capacity >= most) return false;
    if (blocks.capacity == 0) {
        blocks.blocks = cache.first_blocks[class_index];
        blocks.capacity = std::min(first_capacity, most);
        return true;
    }
    if (cache.arrays == nullptr) {
        void* const memory = platform::map(page_rounded(array_area_bytes), cache_line_bytes);
        if (memory == nullptr) return false;
        cache.arrays = static_cast<void**>(memory);
    }
    void** const array = cache.arrays + array_offsets[class_index];
    if (blocks.blocks != array) {
        std::memcpy(array, blocks.blocks, blocks.count.load(std::memory_order_relaxed) * sizeof(void*));
        blocks.blocks = array;
    }
    blocks.capacity = std::min(2 * blocks.capacity, most);
    return true;
}

/// Called when out of memory. Returns all free memory, including the calling thread's caches, to the source, which may
/// then serve the request.
/// Returns   the number of bytes.
std::size_t heap_core::make_room(thread_cache* cache, twice_freed& noted) noexcept {
    for (thread_cache* each = cache != nullptr ? cache->main : nullptr; each != nullptr; each = each->next_of_thread)
        empty(*each, noted);
    release_empty_pages(noted);
    return pages_.trim() + large_.trim() + huge_.trim();
}

/// Called when the source has no page: refills from pages of other shards, then purges and tries once more.
std::size_t heap_core::refill_after_failure(thread_cache* cache, std::size_t class_index, void** blocks,
                                            std::size_t count, twice_freed& noted) noexcept {
    std::uint16_t const tag = cache != nullptr ? cache->tag : std::uint16_t{0};
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (attempt == 1 && make_room(cache, noted) == 0) return 0;
        platform::lock_guard const lock(mutex_);
        for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) {
            std::size_t const taken = shard->tag == tag ? shard->refill(class_index, blocks, count) : 0;
            if (taken != 0) return taken;
        }
    }
    return 0;
}

void* heap_core::refill(thread_cache& cache, std::size_t class_index) noexcept {
    twice_freed noted;
    block_cache& blocks = cache.of_class[class_index];
    if (cache.tag == 0) (void)grow(cache, class_index);
    if (cache.tag != 0) blocks.blocks = cache.arrays + array_offsets[class_index];
    std::size_t const batch = ((cache.tag == 0 ? blocks.capacity : tagged_room(class_index)) + 1) / 2;
    std::size_t taken = cache.shard->refill(class_index, blocks.blocks, batch);
    if (taken == 0) taken = refill_after_failure(&cache, class_index, blocks.blocks, batch, noted);
    if (taken == 0) return nullptr;
    blocks.count.store(static_cast<std::uint32_t>(taken - 1), std::memory_order_relaxed);
    return blocks.blocks[taken - 1];
}

void* heap_core::allocate_small(thread_cache* cache, std::size_t class_index) noexcept {
    if constexpr (checks::caller) return allocate_checked(cache, class_index);
    if (cache == nullptr) { // no memory for a cache, or the thread is past its end
        twice_freed noted;
        void* block = nullptr;
        bool const is_taken = first_shard_.refill(class_index, &block, 1) == 1 ||
                              refill_after_failure(cache, class_index, &block, 1, noted) == 1;
        return is_taken ? block : nullptr;
    }
    block_cache& blocks = cache->of_class[class_index];
    std::uint32_t const count = blocks.count.load(std::memory_order_relaxed);
    if (count == 0) return refill(*cache, class_index);
    blocks.count.store(count - 1, std::memory_order_relaxed);
    return blocks.blocks[count - 1];
}

void* heap_core::allocate_past_small(thread_cache* cache, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    std::uint16_t const tag = cache != nullptr ? cache->tag : std::uint16_t{0};
    contents found = contents::unknown;
    void* block = nullptr;
    twice_freed noted;
    if (fits_segment(bytes, alignment, memory_.segment_bytes())) {
        block = large_.allocate(bytes, alignment, found, tag);
        if (block == nullptr && make_room(cache, noted) != 0) block = large_.allocate(bytes, alignment, found, tag);
    }
    if (block == nullptr) {
        block = huge_.allocate(bytes, alignment, platform::coarse_ns(), found, tag);
        if (block == nullptr && make_room(cache, noted) != 0)
            block = huge_.allocate(bytes, alignment, platform::coarse_ns(), found, tag);
        // A new mapping releases the same amount of free memory elsewhere. Touching that memory again later costs no
        // more than the first touch of the new memory, which is due now.
        if (block != nullptr && found == contents::zero) large_.release_free(bytes);
    }
    if (tag != 0 && block != nullptr) count_tagged(tag, 1, larger_bytes(block, slice_number_of(block)));
    if (checks::caller && block != nullptr) platform::unpoison(block, bytes);
    if (block != nullptr && how == fill::zero && found != contents::zero) memory_.clear(block, bytes);
    return block;
}

void* heap_core::allocate(thread_cache* cache, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most || !is_power_of_two(alignment)) return nullptr;
    if (origin() == block_origin::malloc) return allocate_passthrough(bytes, alignment, how);
    if (cache != nullptr) follow_trims(*cache);
    std::size_t const asked = std::max<std::size_t>(bytes, 1); // zero bytes count as one
    if constexpr (checks::caller) {
        check_alone("allocate");
        // Guarded blocks have OS pages of their own and carry no tag.
        bool const may_guard = memory_.is_plentiful() && (cache == nullptr || cache->tag == 0);
        void* const guarded = may_guard ? sample_guarded(asked, alignment, how) : nullptr;
        if (guarded != nullptr) return guarded;
        bytes += guard_bytes;
    }
    std::size_t const class_index = class_for(bytes, alignment);
    bool const is_small = class_index < small_class_count && 2 * slices_of_page(class_index) * slice_bytes <=
                                                                 memory_.segment_bytes(); // leaves room for the head
    purge_expired(platform::coarse_ns());
    void* block = nullptr;
    if (is_small) {
        block = allocate_small(cache, class_index);
        if (block != nullptr && how == fill::zero) std::memset(block, 0, bytes);
    } else {
        block = allocate_past_small(cache, std::max<std::size_t>(bytes, 1), alignment, how);
    }
    if constexpr (checks::caller) {
        block = set_canary(block, asked);
        memory_.report_misaligned();
    }
    return block;
}

void heap_core::deallocate_small(thread_cache* cache, void* block, std::size_t class_index) noexcept {
    if (checks::caller || cache == nullptr) return heap_shard::flush(&block, 1, memory_.segment_bytes());
    twice_freed noted;
    block_cache& blocks = cache->of_class[class_index];
    std::uint32_t count = blocks.count.load(std::memory_order_relaxed);
    if (count >= blocks.capacity && !grow(*cache, class_index)) {
        // Flushes the older half; the newer blocks are more likely to be in the CPU cache.
        flush(blocks, (count + 1) / 2, noted);
        count = blocks.count.load(std::memory_order_relaxed);
    }
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release);
}

/// Frees a block of a tag's own page. It goes to the thread's cache for that tag, if there is one.
void heap_core::deallocate_tagged(thread_cache* cache, void* block, std::size_t class_index) noexcept {
    small_page const& page = heap_segment::page_of(block, memory_.segment_bytes());
    heap_shard const* const owner = page.owner.load(std::memory_order_acquire);
    std::uint16_t const tag = owner != nullptr ? owner->tag : std::uint16_t{0};
    thread_cache* mine = checks::caller || cache == nullptr || tag == 0 ? nullptr : cache->main;
    while (mine != nullptr && mine->tag != tag) mine = mine->next_of_thread;
    if (mine == nullptr) return heap_shard::flush(&block, 1, memory_.segment_bytes());
    twice_freed noted;
    block_cache& blocks = mine->of_class[class_index];
    blocks.blocks = mine->arrays + array_offsets[class_index];
    if (blocks.count.load(std::memory_order_relaxed) == tagged_room(class_index))
        flush(blocks, (tagged_room(class_index) + 1) / 2, noted);
    std::uint32_t const count = blocks.count.load(std::memory_order_relaxed);
    blocks.blocks[count] = block;
    blocks.count.store(count + 1, std::memory_order_release);
}

/// The kind of head that a block belongs to. Only a huge block can start at a segment boundary; its head is in the
/// segment before. The memory of a huge block may end within its last segment, and what follows belongs to others.
head_kind heap_core::kind_of_head(const void* block) const noexcept {
    bool const is_at_begin = (address_of(block) & (memory_.segment_bytes() - 1)) == 0;
    if (!is_at_begin && memory_.kind_of(block) == head_kind::segment) return head_kind::segment;
    void const* const inside = is_at_begin ? pointer_at(address_of(block) - 1) : block;
    return huge_.has_head(inside) ? head_kind::huge : head_kind::none;
}

/// The number stored for a block's slice; no_class for pointers outside this heap.
std::uint8_t heap_core::slice_number_of(const void* block) const noexcept {
    std::size_t const segment_bytes = memory_.segment_bytes();
    bool const is_at_begin = (address_of(block) & (segment_bytes - 1)) == 0;
    if (!is_at_begin && memory_.kind_of(block) == head_kind::segment)
        return segment_head::of(block, segment_bytes)->class_of_slice[segment_head::slice_of(block, segment_bytes)];
    if (huge_.is_known_block(block)) return huge_class; // the common case, without a lock
    return kind_of_head(block) == head_kind::huge ? huge_class : no_class;
}

/// Under passthrough, whether a block belongs to the process's malloc. Blocks allocated before the decision do not.
bool heap_core::is_passthrough(const void* block) const noexcept {
    return origin_.load(std::memory_order_relaxed) == block_origin::malloc && kind_of_head(block) == head_kind::none;
}

/// The class number of a block; for a block of a tag's page, read from the page.
std::uint8_t heap_core::class_number_of(const void* block, std::uint8_t number) const noexcept {
    return number == tagged_class ? heap_segment::page_of(block, memory_.segment_bytes()).class_index : number;
}

void heap_core::deallocate(thread_cache* cache, void* block) noexcept {
    if (block == nullptr) return;
    if (origin() == block_origin::malloc && is_passthrough(block)) return deallocate_passthrough(block);
    if (checks::caller && guarded_.contains(block)) return guarded_.deallocate(block);
    std::uint8_t const slice_number = slice_number_of(block);
    std::uint8_t const number = class_number_of(block, slice_number);
    if constexpr (checks::caller) {
        check_alone("deallocate");
        if (!check_block(block, number, "freed")) return;
        retire(block, number);
    }
    if (cache != nullptr) follow_trims(*cache);
    if (slice_number == tagged_class) {
        deallocate_tagged(cache, block, number);
    } else if (number < small_class_count) {
        // A tag's cache holds only that tag's blocks, so that every block in it counts for the tag.
        deallocate_small(cache != nullptr ? cache->main : nullptr, block, number);
    } else if (number == large_class) {
        uncount_tagged(large_.deallocate(block));
    } else if (number == huge_class) {
        uncount_tagged(huge_.deallocate(block, platform::coarse_ns()));
        if constexpr (checks::caller) huge_.trim(); // so that a use after free faults
    } else {
        report_misuse("a pointer that is not a block of this heap was freed", block,
                      "Free it where it was allocated: another heap, a pool or the C library.");
        return;
    }
    purge_expired(platform::coarse_ns());
}

std::size_t heap_core::usable_bytes(const void* block) const noexcept {
    if (block == nullptr) return 0;
    if (is_passthrough(block)) return passthrough_bytes(block);
    if (checks::caller && guarded_.contains(block)) return guarded_.bytes_of(block);
    std::uint8_t const number = class_number_of(block, slice_number_of(block));
    // The bytes behind the requested size belong to the guard.
    if constexpr (checks::caller)
        return check_block(block, number, "queried for its size") ? checked_bytes(block, number) : 0;
    if (number < small_class_count) return class_bytes(number);
    if (number == large_class) return large_.usable_bytes(block);
    return number == huge_class ? huge_.usable_bytes(block) : 0;
}

bool heap_core::owns(const void* pointer) const noexcept {
    if (memory_.kind_of(pointer) == head_kind::segment || guarded_.contains(pointer)) return true;
    if (passthrough_.count() != 0 && passthrough_.owns(pointer)) return true;
    return huge_.owns(pointer);
}

void heap_core::purge_expired(std::uint64_t now_ns) noexcept {
    std::uint64_t due = next_sweep_ns_.load(std::memory_order_relaxed);
    if (now_ns < due) return;
    std::uint64_t const next = now_ns + sweep_every_ns_.load(std::memory_order_relaxed);
    if (!next_sweep_ns_.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
    if (due == 0) return; // the first call: nothing is old yet
    pages_.sweep();
    large_.sweep();
    huge_.expire(now_ns);
}

void heap_core::set_purge_policy(purge_policy how) noexcept {
    constexpr std::uint64_t least_ns = 10'000'000;
    sweep_every_ns_.store(std::max(how.time_ns / 2, least_ns), std::memory_order_relaxed);
    huge_.set_purge_policy(how);
}

/// Also flushes caches that no thread uses.
std::size_t heap_core::release_empty_pages(twice_freed& noted) noexcept {
    std::size_t count = 0;
    platform::lock_guard const lock(mutex_);
    for (thread_cache* cache = unused_; cache != nullptr; cache = cache->next_unused) empty(*cache, noted);
    for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) count += shard->release_empty_pages();
    return count;
}

std::size_t heap_core::trim(thread_cache* cache) noexcept {
    twice_freed noted;
    trims_.fetch_add(1, std::memory_order_relaxed);
    for (thread_cache* each = cache != nullptr ? cache->main : nullptr; each != nullptr; each = each->next_of_thread) {
        each->trims_seen = trims_.load(std::memory_order_relaxed);
        empty(*each, noted);
    }
    release_empty_pages(noted);
    std::size_t bytes = 0;
    {
        platform::lock_guard const lock(mutex_);
        for (heap_shard* shard = shards_; shard != nullptr; shard = shard->next) bytes += shard->trim_pages();
    }
    return bytes + pages_.trim() + large_.trim() + huge_.trim();
}

}
