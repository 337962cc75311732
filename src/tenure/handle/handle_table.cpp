// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_table.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/handle/detail/handle_holders.hpp>
#include <tenure/handle/detail/handle_record.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI {

using detail::generation_in;
using detail::handle_generation;
using detail::handle_record;
using detail::handle_stack;
using detail::handle_word;
using detail::holders_in;
using detail::one_holder;
using detail::retired_generation;

namespace {

constexpr std::uint32_t commit_step = 8192; // entries: 16 OS pages of words, 96 of records
constexpr std::uint32_t least_entries = commit_step;

// A stack's top: the entry, and a number that shows a pop that other threads have popped and pushed meanwhile.
[[nodiscard]] constexpr std::uint32_t entry_in(std::uint64_t top) noexcept { return static_cast<std::uint32_t>(top); }
[[nodiscard]] constexpr std::uint64_t top_of(std::uint32_t entry, std::uint64_t pops) noexcept {
    return pops << 32 | entry;
}

/// A number that differs between most threads.
[[nodiscard]] std::uint32_t number_of_this_thread() noexcept {
    const std::uintptr_t at = address_of(&detail::this_thread_tag());
    return static_cast<std::uint32_t>(at >> 12 ^ at >> 20);
}

// How often a count is checked again that may be another thread's mistake, soon undone.
constexpr int max_attempts = 64;

/// The last waits grow to a millisecond, so that a thread interrupted before its undo can continue.
void wait_a_little(int attempt) noexcept {
    constexpr std::uint64_t waits_ns[] = {1'000, 10'000, 100'000, 1'000'000};
    constexpr int without = max_attempts - static_cast<int>(std::size(waits_ns));
    if (attempt >= without) platform::sleep_ns(waits_ns[attempt - without]);
}

/// A 64th of a limited address space (ulimit -v): the rest is for malloc and others. But at least enough entries for a
/// small program, if there is room for them.
[[nodiscard]] std::uint32_t entries_within(std::size_t limit_bytes, std::uint32_t most) noexcept {
    constexpr std::size_t entry_bytes = sizeof(handle_word) + sizeof(handle_generation) + sizeof(handle_record);
    constexpr std::uint32_t enough = 65'536;
    while (most > enough && most > limit_bytes / 64 / entry_bytes) most /= 2;
    return most;
}

template<class T>
[[nodiscard]] T* reserve_array(std::size_t count) noexcept {
    return static_cast<T*>(platform::reserve(align_up(count * sizeof(T), platform::page_bytes()), 1));
}

template<class T>
void unreserve_array(T* array, std::size_t count) noexcept {
    if (array != nullptr) platform::unreserve(array, align_up(count * sizeof(T), platform::page_bytes()));
}

/// Commits the pages of the elements from `begin` to `end`, in an array that starts on a page.
template<class T>
[[nodiscard]] bool commit_part(T* array, std::size_t begin, std::size_t end) noexcept {
    const std::size_t page = platform::page_bytes();
    const std::uintptr_t first = align_down(address_of(array + begin), page);
    const std::uintptr_t last = align_up(address_of(array + end), page);
    return platform::commit(pointer_at(first), last - first);
}

}

constinit handle_word handle_table::nothing{retired_generation};
constinit handle_generation handle_table::no_generation{retired_generation};

constinit detail::process_handle_table detail::process_handles{};

constinit const platform::fork_steps handle_table::fork_steps{
    [](void* owner) noexcept { static_cast<handle_table*>(owner)->mutex_.lock(); },
    [](void* owner) noexcept { static_cast<handle_table*>(owner)->mutex_.unlock(); },
    [](void* owner) noexcept { static_cast<handle_table*>(owner)->mutex_.abandon(); },
    [](void* owner) noexcept { return static_cast<handle_table*>(owner)->mutex_.is_mine(); },
};

handle_table::~handle_table() {
    fork_.delist();
    if (reserved_ == 0) return;
    unreserve_array(words_.load(std::memory_order_relaxed), reserved_);
    unreserve_array(generations_.load(std::memory_order_relaxed), reserved_);
    unreserve_array(records_.load(std::memory_order_relaxed), reserved_);
    unreserve_array(stacks_.load(std::memory_order_relaxed), reserved_);
}

/// Requires  the lock. Halves the number of entries until the system has enough address space.
bool handle_table::open() noexcept {
    if (reserved_ != 0) return true;
    const std::uint32_t most = entries_within(platform::address_limit_bytes(), options_.max_entries);
    for (std::uint32_t count = std::max(most, least_entries); count >= least_entries; count /= 2) {
        auto* const words = reserve_array<handle_word>(count);
        auto* const generations = reserve_array<handle_generation>(count);
        auto* const records = reserve_array<handle_record>(count);
        const bool is_reserved = words != nullptr && generations != nullptr && records != nullptr;
        if (is_reserved && commit_part(words, 0, 1) && commit_part(generations, 0, 1)) {
            words[0].store(retired_generation, std::memory_order_relaxed);
            generations[0].store(retired_generation, std::memory_order_relaxed);
            reserved_ = count;
            // Release, the words last: who loads them, with acquire, may use all three arrays.
            records_.store(records, std::memory_order_release);
            generations_.store(generations, std::memory_order_release);
            words_.store(words, std::memory_order_release);
            const bool is_process = this == &process();
            if (is_process && option_value(option::handle_report) != 0) std::atexit(detail::report_handles_at_exit);
            return true;
        }
        unreserve_array(words, count);
        unreserve_array(generations, count);
        unreserve_array(records, count);
    }
    return false;
}

/// Requires  the lock; `entries` is at most the number reserved.
bool handle_table::commit(std::uint32_t entries) noexcept {
    if (entries <= committed_) return true;
    const auto end = static_cast<std::uint32_t>(std::min<std::uintptr_t>(align_up(entries, commit_step), reserved_));
    const bool is_done = commit_part(words_.load(std::memory_order_relaxed), committed_, end) &&
                         commit_part(generations_.load(std::memory_order_relaxed), committed_, end) &&
                         commit_part(records_.load(std::memory_order_relaxed), committed_, end);
    if (!is_done) return false;
    committed_ = end;
    return true;
}

const handle_word* handle_table::words() noexcept {
    fork_.enlist();
    const platform::lock_guard lock(mutex_);
    return open() ? words_.load(std::memory_order_relaxed) : nullptr;
}

const handle_generation* handle_table::generations() noexcept {
    fork_.enlist();
    const platform::lock_guard lock(mutex_);
    return open() ? generations_.load(std::memory_order_relaxed) : nullptr;
}

std::uint32_t handle_table::pop(entry_stack& from) noexcept {
    // Acquire, here and where the exchange fails: `next` is read below, and the last user of the entry, before push(),
    // has done with it.
    std::uint64_t top = from.top.load(std::memory_order_acquire);
    const handle_record* const records = records_.load(std::memory_order_relaxed);
    while (entry_in(top) != 0) {
        const std::uint32_t next = records[entry_in(top)].next.load(std::memory_order_relaxed);
        if (from.top.compare_exchange_weak(top, top_of(next, (top >> 32) + 1), std::memory_order_acquire))
            return entry_in(top);
    }
    return 0;
}

void handle_table::push(std::uint32_t entry) noexcept {
    detail::atomic<std::uint64_t>& to = stacks_of_free_[stack_of(entry)].top;
    handle_record& record = records_.load(std::memory_order_relaxed)[entry];
    std::uint64_t top = to.load(std::memory_order_relaxed);
    do {
        record.next.store(entry_in(top), std::memory_order_relaxed);
    } while (!to.compare_exchange_weak(top, top_of(entry, top >> 32), std::memory_order_release)); // see pop()
}

/// Prepares a stack's next line of entries. Returns   one of them, or zero when there is no room.
std::uint32_t handle_table::add_line(std::uint32_t stack) noexcept {
    fork_.enlist();
    const platform::lock_guard lock(mutex_);
    if (!open()) return 0;
    entry_stack& of = stacks_of_free_[stack];
    const std::uint64_t line = std::uint64_t{of.next_line.load(std::memory_order_relaxed)} * stack_count + stack;
    const std::uint64_t end = (line + 1) * entries_per_line;
    if (end > reserved_ || !commit(static_cast<std::uint32_t>(end))) return 0;
    of.next_line.fetch_add(1, std::memory_order_relaxed);
    const auto last = static_cast<std::uint32_t>(end - 1);
    const std::uint32_t first = std::max<std::uint32_t>(last + 1 - entries_per_line, 1); // zero means none
    if (options_.first_generation != 0) {
        handle_word* const words = words_.load(std::memory_order_relaxed);
        handle_generation* const generations = generations_.load(std::memory_order_relaxed);
        for (std::uint32_t entry = first; entry <= last; ++entry) {
            words[entry].store(options_.first_generation, std::memory_order_relaxed);
            generations[entry].store(options_.first_generation, std::memory_order_relaxed);
        }
    }
    if (entries_end_.load(std::memory_order_relaxed) < end) // release: listings use the arrays and words up to it
        entries_end_.store(static_cast<std::uint32_t>(end), std::memory_order_release);
    for (std::uint32_t entry = last; entry > first; --entry) push(entry);
    return first;
}

std::uint32_t handle_table::allocate_entry() noexcept {
    const std::uint32_t mine = number_of_this_thread() % stack_count;
    if (const std::uint32_t entry = pop(stacks_of_free_[mine]); entry != 0) return entry;
    if (const std::uint32_t entry = add_line(mine); entry != 0) return entry;
    for (entry_stack& other : stacks_of_free_) {
        if (const std::uint32_t entry = pop(other); entry != 0) return entry;
    }
    for (std::uint32_t other = 0; other < stack_count; ++other) {
        if (const std::uint32_t entry = add_line(other); entry != 0) return entry;
    }
    return 0;
}

void handle_table::note_stack(std::uint32_t entry) noexcept {
    handle_record& record = records_.load(std::memory_order_relaxed)[entry];
    const std::size_t wanted = option_value(option::handle_stack_frames);
    record.frame_count.store(0, std::memory_order_release);
    if (wanted == 0) [[likely]]
        return;
    {
        const platform::lock_guard lock(mutex_);
        if (stacks_.load(std::memory_order_relaxed) == nullptr) stacks_.store(reserve_array<handle_stack>(reserved_));
        handle_stack* const stacks = stacks_.load(std::memory_order_relaxed);
        if (stacks == nullptr || !commit_part(stacks, entry, entry + 1)) return;
    }
    void* frames[handle_stack::capacity];
    const std::size_t count = host::walk_stack(frames, std::min(wanted, handle_stack::capacity));
    handle_stack& stack = stacks_.load(std::memory_order_relaxed)[entry];
    for (std::size_t index = 0; index < count; ++index)
        stack.frames[index].store(frames[index], std::memory_order_release);
    record.frame_count.store(static_cast<std::uint16_t>(count), std::memory_order_release);
}

handle handle_table::add(void* pointer, std::size_t bytes, handle_releaser releaser, const char* kind) noexcept {
    const std::uint32_t entry = allocate_entry();
    if (entry == 0) return {};
    handle_record& record = records_.load(std::memory_order_relaxed)[entry];
    // Release for each: a listing that sees one of these values also sees that the entry was free.
    record.pointer.store(pointer, std::memory_order_release);
    record.bytes.store(bytes, std::memory_order_release);
    record.releaser.store(releaser, std::memory_order_release);
    record.kind.store(kind, std::memory_order_release);
    record.born_ns.store(platform::coarse_ns(), std::memory_order_release);
    record.tag.store(detail::this_thread_tag().id, std::memory_order_release);
    note_stack(entry);
    handle_word& word = words_.load(std::memory_order_relaxed)[entry];
    const std::uint32_t generation = generation_in(word.load(std::memory_order_relaxed)) + 1;
    // First, because a listing may find the entry live and remove it at once, which changes both.
    generations_.load(std::memory_order_relaxed)[entry].store(generation, std::memory_order_release);
    // An addition, not a store: a thread with a stale handle may have counted itself and be about to undo it. Release:
    // acquire() shows the memory also to a thread that got the handle without order.
    word.fetch_add(1, std::memory_order_release);
    return {pointer, bytes, entry, generation};
}

status handle_table::undo_acquire(handle_word& word, std::uint64_t before, const handle& which) noexcept {
    for (int attempt = 0;; ++attempt) {
        word.fetch_sub(one_holder, std::memory_order_relaxed);
        if (generation_in(before) != which.generation) return status::stale_handle;
        if (attempt == max_attempts) return status::invalid_argument;
        // No handle has this many holders: a negative count comes from a mistaken release that is about to be undone.
        wait_a_little(attempt);
        before = word.fetch_add(one_holder, std::memory_order_acquire);
        if (generation_in(before) == which.generation && holders_in(before) < detail::max_holders) break;
    }
    if constexpr (checks::caller) note_holder(which);
    return status::ok;
}

status handle_table::undo_release(handle_word& word, std::uint64_t before, const handle& which) noexcept {
    word.fetch_add(one_holder, std::memory_order_relaxed);
    return generation_in(before) == which.generation ? status::not_held : status::stale_handle;
}

status handle_table::remove(const handle& which, std::uint32_t* holders) noexcept {
    if (which.generation % 2 == 0) return status::stale_handle; // also the generation of entry zero
    handle_word& word = word_of(which);
    std::uint64_t seen = which.generation;
    // Acquire: what the holders did before release() happens before the memory is freed.
    for (int attempt = 0; !word.compare_exchange_strong(seen, which.generation + std::uint64_t{1},
                                                        std::memory_order_acq_rel, std::memory_order_relaxed);
         ++attempt) {
        if (generation_in(seen) != which.generation) return status::stale_handle;
        if (attempt == max_attempts) {
            const std::uint32_t count = holders_in(seen);
            if (holders != nullptr) *holders = count;
            if constexpr (checks::caller) detail::report_holders(*this, which, count);
            return status::still_held;
        }
        wait_a_little(attempt);
        seen = which.generation;
    }
    generations_.load(std::memory_order_relaxed)[which.entry].store(which.generation + 1, std::memory_order_release);
    const handle_record& record = records_.load(std::memory_order_relaxed)[which.entry];
    const handle_releaser releaser = record.releaser.load(std::memory_order_relaxed);
    void* const pointer = record.pointer.load(std::memory_order_relaxed);
    const std::size_t bytes = record.bytes.load(std::memory_order_relaxed);
    if (releaser != nullptr) releaser(pointer, bytes);
    if (which.generation + 1 != retired_generation) push(which.entry);
    return status::ok;
}

std::uint32_t handle_table::holders(const handle& which) const noexcept {
    const std::uint64_t word = word_of(which).load(std::memory_order_acquire);
    return generation_in(word) == which.generation ? holders_in(word) : 0;
}

void handle_table::note_holder(const handle& which) noexcept { detail::add_holder(*this, which); }
void handle_table::forget_holder(const handle& which) noexcept { detail::remove_holder(*this, which); }

}
