// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/quarantine.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include <tenure/base/options.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// What generators start from. A word is zero until the first one starts. Threads that start at once set the same
/// words.
// The first word is released last: who acquires it set reads the second one set, too, and not zero.
constinit std::atomic<std::uint64_t> order_key[2]{};
constinit std::atomic<std::uint64_t> started_count{0}; // relaxed: each generator gets its own number

void set_order_key(const platform::random_words& drawn) noexcept {
    order_key[1].store(drawn.words[1] | 1, std::memory_order_relaxed);
    order_key[0].store(drawn.words[0] | 1, std::memory_order_release);
}

}

void quarantine::start(std::size_t segment_bytes) noexcept {
    segment_mask = segment_bytes - 1;
    states_at = heap_segment::states_offset(segment_bytes);
    keys = keys_of_canaries();
    start_generator();
    on = mitigations_on();
    poisons = platform::has_poison();
    until_sample = draw_sample_distance();
}

void quarantine::start_generator() noexcept {
    if (order_key[0].load(std::memory_order_acquire) == 0)
        set_order_key(platform::random_of_process(platform::random_use::order)); // the same for every thread
    const std::uint64_t number = started_count.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t first = order_key[0].load(std::memory_order_relaxed);
    const std::uint64_t second = order_key[1].load(std::memory_order_relaxed);
    random = folded_product(folded_product(number ^ first, second) ^ second, number ^ first) | 1;
}

void quarantine::follow_fork() noexcept { set_order_key(platform::fresh_random()); }

void quarantine::take(std::size_t class_index, void** to, std::uint32_t count) noexcept {
    ring& from = rings[class_index];
    void** const places = blocks + ring_offsets[class_index];
    const std::uint32_t mask = ring_rooms[class_index] - 1;
    const std::uint32_t before = from.count.load(std::memory_order_relaxed);
    const std::uint32_t first = from.first;
    from.count.store(0, std::memory_order_relaxed); // no block is ever in two places
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (std::uint32_t each = 0; each < count; ++each) to[each] = places[(first + each) & mask];
    from.first = (first + count) & mask;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    from.count.store(before - count, std::memory_order_release);
    from.aged -= std::min(from.aged, count);
}

void quarantine::shuffle(void** some, std::size_t count) noexcept {
    for (std::size_t left = count; left > 1; --left) std::swap(some[left - 1], some[draw_below(left)]);
}

std::uint32_t quarantine::draw_sample_distance() noexcept {
    constexpr std::uint32_t look_again = 1024; // the option may change
    const std::uint64_t one_in = option_value(option::heap_guard_sample);
    return one_in == 0 ? look_again : static_cast<std::uint32_t>(draw_below(2 * one_in - 1));
}

}
