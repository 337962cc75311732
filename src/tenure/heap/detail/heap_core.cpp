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

TENURE_COLD block_origin heap_core::choose_origin() noexcept {
    // Requests before the process has its environment are served and decide nothing.
    if (!host::has_environment()) return block_origin::own;
    const block_origin wanted = passthrough_enabled(part::heap) ? block_origin::malloc : block_origin::own;
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

thread_cache* heap_core::open_cache(std::uint16_t tag) noexcept {
    // No cache while the origin is undecided either: under passthrough, malloc's blocks must not enter a cache.
    const bool is_undecided =
        origin() == block_origin::own && origin_.load(std::memory_order_relaxed) == block_origin::unknown;
    return is_undecided || origin() == block_origin::malloc ? nullptr : small_.open_cache(tag);
}

/// Called when out of memory. Returns all free memory, including the calling thread's caches, to the source, which may
/// then serve the request.
/// Returns   the number of bytes.
std::size_t heap_core::make_room(thread_cache* cache, twice_freed& noted) noexcept {
    small_.flush_thread(cache, noted);
    small_.release_empty_pages(noted);
    return pages_.trim() + large_.trim() + huge_.trim();
}

void* heap_core::allocate_past_small(thread_cache* cache, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    const std::uint16_t tag = cache != nullptr ? cache->tag : std::uint16_t{0};
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
    if (cache != nullptr) small_.follow_trims(*cache);
    const std::size_t asked = std::max<std::size_t>(bytes, 1); // zero bytes count as one
    if constexpr (checks::caller) {
        check_alone("allocate");
        // Guarded blocks have OS pages of their own and carry no tag.
        const bool may_guard = memory_.is_plentiful() && (cache == nullptr || cache->tag == 0);
        void* const guarded = may_guard ? sample_guarded(cache, asked, alignment, how) : nullptr;
        if (guarded != nullptr) return guarded;
        bytes += guard_bytes;
    }
    const std::size_t class_index = class_for(bytes, alignment);
    const bool is_small = class_index < small_class_count && 2 * slices_of_page(class_index) * slice_bytes <=
                                                                 memory_.segment_bytes(); // leaves room for the head
    purge_expired(platform::coarse_ns());
    void* block = nullptr;
    if (is_small) {
        block = checks::caller ? allocate_checked(cache, class_index) : small_.allocate(cache, class_index);
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

/// The kind of head that a block belongs to. Only a huge block can start at a segment boundary; its head is in the
/// segment before. The memory of a huge block may end within its last segment, and what follows belongs to others.
head_kind heap_core::kind_of_head(const void* block) const noexcept {
    const bool is_at_begin = (address_of(block) & (memory_.segment_bytes() - 1)) == 0;
    if (!is_at_begin && memory_.kind_of(block) == head_kind::segment) return head_kind::segment;
    const void* const inside = is_at_begin ? pointer_at(address_of(block) - 1) : block;
    return huge_.has_head(inside) ? head_kind::huge : head_kind::none;
}

/// The number stored for a block's slice; no_class for pointers outside this heap.
std::uint8_t heap_core::slice_number_of(const void* block) const noexcept {
    const std::size_t segment_bytes = memory_.segment_bytes();
    const bool is_at_begin = (address_of(block) & (segment_bytes - 1)) == 0;
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
    const std::uint8_t slice_number = slice_number_of(block);
    const std::uint8_t number = class_number_of(block, slice_number);
    if constexpr (checks::caller) {
        check_alone("deallocate");
        if (!check_block(block, number, "freed")) return;
        retire(block, number);
    }
    if (cache != nullptr) small_.follow_trims(*cache);
    if (slice_number == tagged_class) {
        small_.deallocate_tagged(cache, block, number);
    } else if (number < small_class_count) {
        // A tag's cache holds only that tag's blocks, so that every block in it counts for the tag.
        small_.deallocate(cache != nullptr ? cache->main : nullptr, block, number);
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
    const std::uint8_t number = class_number_of(block, slice_number_of(block));
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
    const std::uint64_t next = now_ns + sweep_every_ns_.load(std::memory_order_relaxed);
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

std::size_t heap_core::trim(thread_cache* cache) noexcept {
    twice_freed noted;
    small_.start_trim(cache, noted);
    small_.release_empty_pages(noted);
    const std::size_t bytes = small_.trim_pages();
    return bytes + pages_.trim() + large_.trim() + huge_.trim();
}

}
