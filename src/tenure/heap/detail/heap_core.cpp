// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/detail/purge/background.hpp>
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

/// Called when out of memory. Returns all free memory, including the calling thread's caches, to the source. The
/// request may then be served, also if nothing was returned: a page became free, or a sweep has ended that held free
/// memory.
void heap_core::make_room(thread_cache* cache, twice_freed& noted) noexcept {
    const platform::lock_guard lock(purge_mutex_);
    small_.flush_thread(cache, noted);
    small_.release_empty_pages(noted);
    static_cast<void>(pages_.trim() + large_.trim() + huge_.trim() + fenced_.trim());
    static_cast<void>(pages_.release_tails() + large_.release_tails());
}

/// Called under a limit, before free memory comes on top of it.
void heap_core::return_free_memory() noexcept {
    memory_.limit_of_use().start_again(memory_.in_use_bytes()); // first, so that other threads do not do the same
    const platform::lock_guard lock(purge_mutex_);
    static_cast<void>(pages_.trim() + large_.trim() + huge_.trim() + fenced_.trim());
}

void* heap_core::allocate_past_small(thread_cache* cache, std::uint16_t tag, std::size_t bytes, std::size_t alignment,
                                     fill how) noexcept {
    contents found = contents::unknown;
    void* block = nullptr;
    twice_freed noted;
    bool may_make_room = memory_.limit_of_use().allows(0, bytes);
    if (fits_segment(bytes, alignment, memory_.segment_bytes())) {
        block = large_.allocate(bytes, alignment, found, tag);
        if (block == nullptr && std::exchange(may_make_room, false)) {
            make_room(cache, noted);
            block = large_.allocate(bytes, alignment, found, tag);
        }
    }
    if (block == nullptr) {
        block = huge_.allocate(bytes, alignment, platform::coarse_ns(), found, tag);
        if (block == nullptr && may_make_room) {
            make_room(cache, noted);
            block = huge_.allocate(bytes, alignment, platform::coarse_ns(), found, tag);
        }
        // A new mapping releases the same amount of free memory elsewhere. Touching that memory again later costs no
        // more than the first touch of the new memory, which is due now.
        if (block != nullptr && found == contents::zero) large_.release_free(bytes);
    }
    if (tag != 0 && block != nullptr) count_tagged(tag, 1, larger_bytes(block, slice_number_of(block)));
    if (checks::caller && block != nullptr) platform::unpoison(block, bytes);
    if (block != nullptr && how == fill::zero && found != contents::zero) memory_.clear(block, bytes);
    return block;
}

void* heap_core::sample(thread_cache& cache, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    if (passthrough_form_ != passthrough_form::plain) { // another heap than the process's
        cache.bytes_to_sample = sample_schedule::never;
        return nullptr;
    }
    if (!sampled_.draw(cache)) return nullptr;
    // The countdown does not see the blocks that a thread frees and allocates again from its cache. So every other time
    // one of the cached sizes is sampled instead, at its next request that finds the cache empty.
    const std::uint64_t random = sample_schedule::random();
    if (cache.bytes_to_sample != 0 && (random & 1) != 0 && small_.choose_cached(cache, random >> 1)) {
        sampled_.schedule().begin_rest(1);
        return nullptr;
    }
    return sampled_.allocate(bytes, alignment, how);
}

namespace {

/// What a request adds to its tag's use.
[[nodiscard]] std::size_t counted_bytes(std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (checks::caller) bytes += guard_bytes;
    const std::size_t class_index = class_for(bytes, alignment);
    return class_index < small_class_count ? class_bytes(class_index) : align_up(bytes, unit_bytes);
}

}

void* heap_core::allocate(thread_cache* cache, std::size_t bytes, std::size_t alignment, fill how,
                          [[maybe_unused]] block_form form) noexcept {
    if (checks::caller && cache != nullptr && cache->resting != nullptr) {
        void* const block = checked_.allocate(*cache, bytes, alignment, form);
        if (block != nullptr) [[likely]] {
            if (is_profiled()) begin_sample(*this, cache, block, bytes);
            note_block_begin(block, bytes);
            return how == fill::zero ? std::memset(block, 0, bytes) : block;
        }
    }
    if (!checks::caller && cache != nullptr && cache->is_counting) [[unlikely]] {
        if (void* const block = allocate_counted(*cache, bytes, alignment, how); block != nullptr) return block;
    }
    constexpr std::size_t most = max_object_bytes / 4;
    check_alignment("A heap", alignment);
    if (bytes > most || alignment > most || !is_power_of_two(alignment)) return nullptr;
    if (origin() == block_origin::malloc) return allocate_passthrough(bytes, alignment, how);
    if (cache != nullptr) small_.follow_trims(*cache);
    const std::uint16_t tag = tag_of_request(cache);
    if (tag != 0 && has_budget(tag) && !budget_allows(tag, bytes, counted_bytes(bytes, alignment), cache))
        return nullptr;
    void* const block = allocate_own(cache, tag, bytes, alignment, how, form);
    if (is_profiled()) [[unlikely]]
        begin_sample(*this, cache, block, bytes);
    note_block_begin(block, bytes);
    return block;
}

// While a profile is recorded, most slow calls only take more blocks from the thread's stock.
void* heap_core::allocate_counted(thread_cache& cache, std::size_t bytes, std::size_t alignment, fill how) noexcept {
    const bool may_be_small = bytes <= max_small_bytes && alignment <= max_small_bytes && is_power_of_two(alignment);
    if (!may_be_small || this_thread_tag().id != 0) return nullptr;
    const std::size_t class_index = class_for(bytes, alignment);
    if (class_index >= small_class_count) return nullptr;
    void* const block = small_.allocate_counted(cache, class_index);
    if (block == nullptr) return nullptr;
    note_block_begin(block, bytes);
    return how == fill::zero ? std::memset(block, 0, bytes) : block;
}

/// A block of the heap's own pages.
void* heap_core::allocate_own(thread_cache* cache, std::uint16_t tag, std::size_t bytes, std::size_t alignment,
                              fill how, [[maybe_unused]] block_form form) noexcept {
    const std::size_t asked = std::max<std::size_t>(bytes, 1); // zero bytes count as one
    if constexpr (checks::caller) {
        check_alone("allocate");
        const bool is_for_program = form != block_form::any && alignment <= default_alignment;
        if (bytes == 0 && is_for_program && has(mitigations_on(), mitigation::zero_size)) {
            if (void* const nowhere = zero_.allocate(); nowhere != nullptr) return nowhere;
        }
        // Guarded blocks have OS pages of their own and carry no tag.
        const bool may_guard = cache != nullptr && cache->resting != nullptr;
        void* const guarded = may_guard ? sample_guarded(*cache, asked, alignment, how, form) : nullptr;
        if (guarded != nullptr) return guarded;
        if (void* const fenced = allocate_fenced(cache, bytes, alignment, how); fenced != nullptr) return fenced;
        bytes = asked + guard_bytes;
    }
    // A countdown that is over before the call: every request is sampled, or there is none yet.
    if (is_sample_due(cache)) [[unlikely]] {
        if (void* const guarded = sample(*cache, asked, alignment, how); guarded != nullptr) return guarded;
    }
    const std::size_t class_index = class_for(bytes, alignment);
    bool is_small = class_index < small_class_count && 2 * slices_of_page(class_index) * slice_bytes <=
                                                           memory_.segment_bytes(); // leaves room for the head
    purge_expired();
    if (memory_.limit_of_use().is_trim_due()) [[unlikely]]
        return_free_memory();
    void* block = nullptr;
    if (is_small) {
        if (!checks::caller && cache != nullptr && cache->sampled_class == class_index + 1) [[unlikely]] {
            cache->sampled_class = 0;
            block = sampled_.allocate(asked, alignment, how);
            if (block != nullptr) return block;
        }
        const bool is_of_cache = tag == 0 || (cache != nullptr && cache->tag == tag);
        if (!is_of_cache) block = small_.allocate_tagged(tag, class_index);
        if (block == nullptr) block = small_.allocate(cache, class_index);
        // Where no page of several slices is left, a large block takes less.
        if (block == nullptr && slices_of_page(class_index) > 1) is_small = false;
        if (is_sample_due(cache) && block != nullptr) [[unlikely]] {
            if (void* const guarded = sample(*cache, asked, alignment, how); guarded != nullptr) {
                small_.deallocate(cache, block, class_index); // was only to be counted
                return guarded;
            }
        }
        if (checks::caller && block != nullptr) checked_.begin(block, class_index, asked, form);
        if (block != nullptr && how == fill::zero) std::memset(block, 0, checks::caller ? asked : bytes);
    }
    if (!is_small) {
        if (!checks::caller && cache != nullptr && bytes <= sampled_blocks::max_bytes) {
            cache->bytes_to_sample -= static_cast<std::int64_t>(bytes);
            if (is_sample_due(cache)) [[unlikely]]
                block = sample(*cache, asked, alignment, how);
            if (block != nullptr) return block;
        }
        block = allocate_past_small(cache, tag, std::max<std::size_t>(bytes, 1), alignment, how);
    }
    if (block == nullptr) [[unlikely]]
        report_refusal(asked);
    if constexpr (checks::caller) {
        if (!is_small) block = set_canary(block, asked);
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
        return segment_head::of(block, segment_bytes)->number_of(segment_head::slice_of(block, segment_bytes));
    if (huge_.is_known_block(block)) return huge_class; // the common case, without a lock
    return kind_of_head(block) == head_kind::huge ? huge_class : no_class;
}

/// Under passthrough, whether a block belongs to the process's malloc. Blocks allocated before the decision do not.
bool heap_core::is_passthrough(const void* block) const noexcept {
    return origin_.load(std::memory_order_relaxed) == block_origin::malloc && kind_of_head(block) == head_kind::none;
}

/// The class number of a block; for a block of a tag's page, read from the page.
std::uint8_t heap_core::class_number_of(const void* block, std::uint8_t number) const noexcept {
    if (is_counted_number(number)) return static_cast<std::uint8_t>(number - counted_classes);
    const bool is_in_record = number == tagged_class || number == watched_class;
    return is_in_record ? heap_segment::page_of(block, memory_.segment_bytes()).class_index : number;
}

/// Whether the heap profile wants to know of this heap's blocks.
bool heap_core::is_profiled() const noexcept {
    // Acquire: the mean of a profile's samples is set before it begins.
    return is_profiling.load(std::memory_order_acquire) && passthrough_form_ == passthrough_form::plain;
}

bool heap_core::may_be_profiled(const void* block, std::uint8_t number) const noexcept {
    if (number == tagged_class) return heap_segment::page_of(block, memory_.segment_bytes()).samples() != 0;
    return number == watched_class || number >= huge_class || number == guarded_class;
}

heap_core::profiled_block heap_core::profiled(const void* block, std::size_t asked_bytes) const noexcept {
    const std::uint8_t number = class_number_of(block, slice_number_of(block));
    if (number < small_class_count) return {class_bytes(number), true, true};
    if (number == large_class || number == huge_class) return {larger_bytes(block, number), false, false};
    // A block between guard pages stands for one of the class that was asked for.
    const std::size_t asked = std::max<std::size_t>(asked_bytes, 1);
    const std::size_t class_index = class_for(asked, 1);
    const bool is_of_class = class_index < small_class_count;
    return {is_of_class ? class_bytes(class_index) : asked, false, is_of_class};
}

void heap_core::deallocate(thread_cache* cache, void* block) noexcept {
    deallocate_as(cache, block, block_form::any, unknown_size);
}

void heap_core::deallocate_as(thread_cache* cache, void* block, [[maybe_unused]] block_form form,
                              [[maybe_unused]] std::size_t bytes) noexcept {
    if (block == nullptr) return;
    if (tells_blocks() && !is_passthrough(block)) [[unlikely]]
        tell_block_end(block); // before another thread can have it
    if constexpr (checks::caller) {
        if (is_profiled()) end_sample(*this, block);
        const bool is_quick = cache != nullptr && cache->resting != nullptr;
        if (is_quick && checked_.deallocate(*cache, block, form, bytes)) [[likely]]
            return;
        check_alone("deallocate");
        if (zero_.contains(block)) return deallocate_zero(block, "freed");
        if (!check_size(block, bytes)) return;
        if (fenced_.contains(block)) return deallocate_fenced(block);
    }
    if (origin() == block_origin::malloc && is_passthrough(block)) return deallocate_passthrough(block);
    if (checks::caller && guarded_.contains(block))
        return guarded_.deallocate(block, has(mitigations_on(), mitigation::form) ? form : block_form::any);
    const std::uint8_t slice_number = slice_number_of(block);
    const std::uint8_t number = class_number_of(block, slice_number);
    if constexpr (checks::caller) {
        if (!check_block(block, number, "freed", form) || !retire(block, number)) return;
    }
    if (!checks::caller && is_profiled() && may_be_profiled(block, slice_number)) [[unlikely]]
        end_sample(*this, block);
    if (cache != nullptr) small_.follow_trims(*cache);
    if (slice_number == tagged_class) {
        small_.deallocate_tagged(cache, block, number);
    } else if (number < small_class_count) {
        // A tag's cache holds only that tag's blocks, so that every block in it counts for the tag.
        thread_cache* const main = cache != nullptr ? cache->main : nullptr;
        checks::caller ? checked_.retire(main, block, number) : small_.deallocate(main, block, number);
    } else if (number == large_class) {
        uncount_tagged(large_.deallocate(block));
    } else if (number == huge_class) {
        uncount_tagged(huge_.deallocate(block, platform::coarse_ns()));
        if constexpr (checks::caller) huge_.trim(); // so that a use after free faults
    } else if (number == guarded_class) {
        sampled_.deallocate(block);
    } else {
        report_misuse("a pointer that is not a block of this heap was freed", block,
                      "Free it where it was allocated: another heap, a pool or the C library.");
        return;
    }
    purge_expired();
}

std::size_t heap_core::usable_bytes(const void* block) const noexcept {
    if (block == nullptr) return 0;
    if constexpr (checks::caller) {
        const std::size_t asked = checked_.sound_bytes(block);
        if (asked != 0) [[likely]]
            return asked;
    }
    if (is_passthrough(block)) return passthrough_bytes(block);
    if (checks::caller && guarded_.contains(block)) return guarded_.bytes_of(block);
    if (checks::caller && zero_.contains(block)) return 0;
    if (checks::caller && fenced_.contains(block)) {
        const std::size_t asked = fenced_.bytes_of(block);
        if (asked == 0)
            report_unsound(block, huge_class, block_finding::no_begin, "resized or queried for its size",
                           block_form::any);
        return asked;
    }
    const std::uint8_t number = class_number_of(block, slice_number_of(block));
    // The bytes behind the requested size belong to the guard.
    if constexpr (checks::caller)
        return check_block(block, number, "resized or queried for its size") ? asked_or_whole(block, number) : 0;
    if (number < small_class_count) return class_bytes(number);
    if (number == large_class) return large_.usable_bytes(block);
    if (number == guarded_class) return sampled_.bytes_of(block);
    return number == huge_class ? huge_.usable_bytes(block) : 0;
}

bool heap_core::owns(const void* pointer) const noexcept {
    if (memory_.kind_of(pointer) == head_kind::segment || guarded_.contains(pointer)) return true;
    if (checks::caller && (zero_.contains(pointer) || fenced_.contains(pointer))) return true;
    if (passthrough_.count() != 0 && passthrough_.owns(pointer)) return true;
    return huge_.owns(pointer);
}

bool heap_core::may_be_block(const void* address) const noexcept {
    if (huge_.is_known_block(address) || kind_of_head(address) != head_kind::none) return true;
    if constexpr (!checks::caller) return false;
    return guarded_.contains(address) || zero_.contains(address) || fenced_.contains(address);
}

void heap_core::purge_expired(std::uint64_t now_ns) noexcept {
    if (can_want_background() && memory_.is_worth_sweeping() && is_tended()) [[unlikely]]
        want_background();
    std::uint64_t due = next_sweep_ns_.load(std::memory_order_relaxed);
    if (now_ns < due) return;
    const std::uint64_t next = now_ns + sweep_every_ns_.load(std::memory_order_relaxed);
    if (!next_sweep_ns_.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
    if (due == 0) return; // the first call: nothing is old yet
    (void)sweep_all({}, now_ns);
}

sweep_result heap_core::sweep(sweep_scope scope, std::uint64_t now_ns) noexcept {
    const std::uint64_t every_ns = sweep_every_ns_.load(std::memory_order_relaxed);
    if (!scope.is_urgent && now_ns < swept_at_ns_ + every_ns) // another heap has a shorter purge delay
        return {0, memory_.is_worth_sweeping() ? SIZE_MAX : young_bytes_};
    swept_at_ns_ = now_ns;
    next_sweep_ns_.store(now_ns + 2 * every_ns, std::memory_order_relaxed);
    const sweep_result result = sweep_all(scope, now_ns);
    young_bytes_ = result.young_bytes;
    return result;
}

/// The lock is released between steps, so that a fork or a trim does not wait for long.
sweep_result heap_core::sweep_all(sweep_scope scope, std::uint64_t now_ns) noexcept {
    sweep_result result;
    memory_.begin_sweep();
    const auto sweep_segments = [&](auto& swept) noexcept {
        auto place = [&] {
            const platform::lock_guard lock(purge_mutex_);
            return swept.begin_sweep();
        }();
        for (bool is_more = true, is_awaited = false; is_more;) {
            {
                const platform::lock_guard lock(purge_mutex_);
                is_more = !is_walked_ && swept.sweep_some(place, scope, result);
                is_awaited = purge_mutex_.has_waiters();
            }
            if (is_awaited && scope.is_thorough) platform::sleep_ns(pause_for_waiters_ns);
        }
    };
    sweep_segments(pages_);
    sweep_segments(large_);
    if constexpr (checks::caller) result.returned_bytes += scope.is_urgent ? fenced_.trim() : fenced_.expire();
    result.returned_bytes += scope.is_urgent ? huge_.trim() : huge_.expire(now_ns);
    result.young_bytes += huge_.retained_bytes();
    memory_.count_purged(result.returned_bytes);
    return result;
}

void heap_core::set_purge_policy(purge_policy how) noexcept {
    constexpr std::uint64_t least_ns = 10'000'000, day_ns = 86'400'000'000'000;
    how.time_ns = std::min(how.time_ns, day_ns);
    sweep_every_ns_.store(std::max(how.time_ns / 2, least_ns), std::memory_order_relaxed);
    huge_.set_purge_policy(how);
}

std::size_t heap_core::trim(thread_cache* cache) noexcept {
    twice_freed noted;
    const platform::lock_guard lock(purge_mutex_);
    small_.start_trim();
    small_.empty_after_trim(cache, noted);
    small_.release_empty_pages(noted);
    const std::size_t bytes = small_.trim_pages();
    return bytes + pages_.trim() + large_.trim() + huge_.trim() + fenced_.trim();
}

}
