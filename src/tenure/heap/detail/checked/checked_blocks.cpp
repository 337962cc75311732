// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/checked_blocks.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/engine/local_cache.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

TENURE_COLD void report_written(const void* block, std::size_t whole, std::size_t offset) noexcept {
    report_text text;
    text.text("memory was written after it was freed: the block at ").address(block).text(" of ").number(whole);
    text.text(" bytes, first at byte ").number(offset);
    text.text(". Look for a pointer that outlived its block; TENURE_HEAP_GUARD_SAMPLE=1 or AddressSanitizer finds the "
              "writer.");
    report(report_kind::misuse, text.view());
}

[[nodiscard]] TENURE_ALWAYS_INLINE bool is_front_whole(const void* block, std::size_t whole,
                                                       const canary_keys& keys) noexcept {
    const std::uintptr_t before = address_of(block) - whole;
    const std::uint64_t word = word_at(pointer_at(address_of(block) - sizeof(std::uint64_t)));
    return behind_of(keys, before, word) != 0 || word == repeated(freed_fill);
}

/// Another thread may be writing the canary or the fill of the block in front at this moment.
[[nodiscard]] TENURE_COLD bool is_front_broken(const void* block, std::size_t whole, const canary_keys& keys) noexcept {
    constexpr int attempts = 1000;
    for (int each = 0; each < attempts; ++each) {
        std::atomic_signal_fence(std::memory_order_seq_cst); // reads again
        if (is_front_whole(block, whole, keys)) return false;
    }
    return true;
}

/// Pushes a block into a cache and swaps it with a random one of the newest 64; with the newest if `drawn` is zero. No
/// block is ever there twice: the child of a fork may take over the caches of other threads.
/// Returns   whether there was room.
[[nodiscard]] TENURE_ALWAYS_INLINE bool push_at(block_cache& cache, void* block, std::uint64_t drawn) noexcept {
    constexpr std::uint32_t most = 64;
    const std::uint32_t count = cache.count.load(std::memory_order_relaxed);
    if (count >= cache.capacity) return false;
    const std::uint64_t high = (drawn >> 16) & 0xFFFF; // the low bits chose the block
    void** const newest = cache.blocks + count;
    void** const place = newest - (high * std::min(count + 1, most) >> 16);
    *newest = *place; // beyond the count
    std::atomic_signal_fence(std::memory_order_seq_cst);
    *place = block;
    cache.count.store(count + 1, std::memory_order_release);
    return true;
}

}

block_place checked_blocks::place_of(const void* block, std::size_t class_index) const noexcept {
    return heap_segment::checked_place(block, class_index, memory_.segment_bytes());
}

void* checked_blocks::allocate(thread_cache& cache, std::size_t bytes, std::size_t alignment,
                               block_form form) noexcept {
    quarantine& resting = *cache.resting;
    if (resting.until_sample == 0 || resting.poisons || alone_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        return nullptr;
    if (bytes - 1 >= max_small_bytes - guard_bytes || alignment > max_small_bytes || !is_power_of_two(alignment))
        return nullptr; // zero bytes, too
    const std::size_t class_index = class_for(bytes + guard_bytes, alignment);
    void* block = nullptr;
    if (!pop(block, cache.of_class[class_index])) return nullptr;
    const std::size_t whole = class_layouts[class_index].bytes;
    const block_place place = heap_segment::checked_place(block, class_index, resting.segment_mask, resting.states_at);
    const std::uint8_t state = place.state->load(std::memory_order_relaxed);
    if (state == state_filled && !is_filled(block, whole)) [[unlikely]]
        report_written(block, whole, first_written(block, whole));
    set_guard(block, whole, bytes, resting.keys);
    --resting.until_sample; // of a call that fails here, the slow path counts: each call once
    place.state->store(live_state(form), std::memory_order_relaxed);
    return block;
}

bool checked_blocks::deallocate(thread_cache& cache, void* block, block_form form, std::size_t bytes) noexcept {
    quarantine& resting = *cache.resting;
    const std::uintptr_t within = address_of(block) & resting.segment_mask;
    if (within == 0 || resting.poisons || alone_.load(std::memory_order_relaxed) != 0) [[unlikely]]
        return false;
    if (memory_.kind_of(block) != head_kind::segment) return false;
    const auto* const head = static_cast<const segment_head*>(pointer_at(address_of(block) - within));
    const std::size_t class_index = head->class_of_slice[within / slice_bytes];
    if (class_index - first_checked_class >= small_class_count - first_checked_class) return false;
    const block_place place = heap_segment::checked_place(block, class_index, resting.segment_mask, resting.states_at);
    if (!place.is_begin) return false;
    const std::uint8_t state = place.state->load(std::memory_order_relaxed);
    if (!is_live(state)) return false;
    const mitigation_set on = resting.on;
    if (has(on, mitigation::form) && !matches(form_of(state), form)) return false;
    const std::size_t whole = class_layouts[class_index].bytes;
    const std::size_t asked = asked_bytes_of(block, whole, resting.keys);
    if (has(on, mitigation::canary) && (asked == canary_overwritten || !is_guard_whole(block, whole, asked)))
        return false;
    if (has(on, mitigation::size) && bytes != unknown_size && asked != bytes) return false;
    if (has(on, mitigation::front) && !is_front_whole(block, whole, resting.keys)) [[unlikely]]
        if (is_front_broken(block, whole, resting.keys)) return false;
    const std::uint8_t next = has(on, mitigation::fill) ? state_filled : state_freed;
    if (!has(on, mitigation::double_free)) {
        place.state->store(next, std::memory_order_relaxed);
    } else if (place.state->exchange(next, std::memory_order_acq_rel) != state) {
        return false;
    }
    if (next == state_filled) fill_small(block, whole);
    const std::uint64_t drawn = resting.draw();
    void* leaving = block;
    if (has(on, mitigation::quarantine)) leaving = resting.rest(class_index, block, drawn);
    const bool is_shuffled = has(on, mitigation::shuffle);
    if (leaving != nullptr && !push_at(cache.of_class[class_index], leaving, is_shuffled ? drawn : 0)) [[unlikely]] {
        small_.deallocate(&cache, leaving, class_index);
        if (can_want_background() && memory_.is_worth_sweeping() && memory_.is_shared()) want_background();
    }
    return true;
}

std::size_t checked_blocks::sound_bytes(const void* block) const noexcept {
    const std::size_t segment_bytes = memory_.segment_bytes();
    const std::uintptr_t within = address_of(block) & (segment_bytes - 1);
    if (within == 0 || platform::has_poison() || memory_.kind_of(block) != head_kind::segment) return 0;
    const std::size_t class_index = segment_head::of(block, segment_bytes)->class_of_slice[within / slice_bytes];
    if (class_index - first_checked_class >= small_class_count - first_checked_class) return 0;
    const block_place place = place_of(block, class_index);
    if (!place.is_begin || !is_live(place.state->load(std::memory_order_relaxed))) return 0;
    const std::size_t whole = class_layouts[class_index].bytes;
    const std::size_t asked = asked_bytes_of(block, whole, keys_of_canaries());
    return asked != canary_overwritten && is_guard_whole(block, whole, asked) ? asked : 0;
}

bool checked_blocks::resize(void* block, std::size_t bytes) const noexcept {
    const std::size_t segment_bytes = memory_.segment_bytes();
    const std::size_t slice = segment_head::slice_of(block, segment_bytes);
    const std::size_t whole = class_layouts[segment_head::of(block, segment_bytes)->class_of_slice[slice]].bytes;
    if (bytes + guard_bytes > whole) return false;
    set_guard(block, whole, bytes, keys_of_canaries());
    return true;
}

void checked_blocks::begin(void* block, std::size_t class_index, std::size_t bytes, block_form form) const noexcept {
    const std::size_t whole = class_bytes(class_index);
    const block_place place = place_of(block, class_index);
    platform::unpoison(block, whole);
    if (place.state->load(std::memory_order_relaxed) == state_filled && !is_filled(block, whole))
        report_written(block, whole, first_written(block, whole));
    set_guard(block, whole, bytes, keys_of_canaries());
    platform::poison(bytes_from(block, bytes), whole - bytes);
    place.state->store(live_state(form), std::memory_order_relaxed);
}

block_finding checked_blocks::check(const void* block, std::size_t class_index, block_form form) const noexcept {
    const block_place place = place_of(block, class_index);
    if (!place.is_begin) return block_finding::no_begin;
    const std::uint8_t state = place.state->load(std::memory_order_acquire);
    if (!is_live(state)) return block_finding::freed;
    const mitigation_set on = mitigations_on();
    if (has(on, mitigation::form) && !matches(form_of(state), form)) return block_finding::other_form;
    if (platform::has_poison()) return block_finding::sound; // the checker has the bytes around the block
    const std::size_t whole = class_bytes(class_index);
    if (has(on, mitigation::front) && is_front_broken(block, whole, keys_of_canaries()))
        return block_finding::written_before;
    return block_finding::sound;
}

bool checked_blocks::end(void* block, std::size_t class_index) const noexcept {
    const std::size_t whole = class_bytes(class_index);
    const std::uint8_t next = has(mitigations_on(), mitigation::fill) ? state_filled : state_freed;
    if (!is_live(place_of(block, class_index).state->exchange(next, std::memory_order_acq_rel))) return false;
    platform::unpoison(block, whole);
    if (next == state_filled) fill_small(block, whole);
    platform::poison(block, whole);
    return true;
}

void checked_blocks::retire(thread_cache* cache, void* block, std::size_t class_index) noexcept {
    void* leaving = block;
    if (cache != nullptr && cache->resting != nullptr && has(cache->resting->on, mitigation::quarantine))
        leaving = cache->resting->rest(class_index, block, cache->resting->draw());
    if (leaving != nullptr) small_.deallocate(cache, leaving, class_index);
}

block_form checked_blocks::form(const void* block, std::size_t class_index) const noexcept {
    return form_of(place_of(block, class_index).state->load(std::memory_order_relaxed));
}

}
