// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Handles that detect use after free: every copy, in every thread, goes stale when the memory is freed.
///
/// Use it for     memory that is passed by value or across languages and must not be used after it is freed:
///                buffer/fixed_buffer.hpp builds on it.
/// Not for        memory with one clear owner: adapt/unique.hpp.
/// Memory from    the system. The first handle reserves addresses for all entries; if the process has an address limit,
///                at most a 64th of it, but enough for 65,536 entries. Pages are committed as entries come into use.
///                They are never unmapped, so a stale handle can be checked at any time.
/// Cost           check: a load and a compare. acquire and release: one atomic addition each. add and remove: two or
///                three atomic read-modify-writes, no lock.
/// Overhead       60 bytes per entry; free entries are reused. 128 bytes more with option handle_stack_frames.
/// Threads        any, for every function.
/// Fork           usable in the child. Memory that other threads of the parent held stays held in the child. If another
///                thread was adding or removing an entry during the fork, the child loses that entry.
/// When full      add() returns a stale handle and changes nothing.
/// Example        examples/handles.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {

/// Refers to a piece of memory. Copied freely; a default one is stale.
struct handle {
    void* pointer = nullptr;
    std::size_t bytes = 0;
    std::uint32_t entry = 0;
    std::uint32_t generation = 0;
    friend constexpr bool operator==(const handle&, const handle&) noexcept = default;
};
static_assert(sizeof(handle) == 24);

/// Frees the memory when its handle is removed. Called once, on the thread that removes the handle.
using handle_releaser = void (*)(void* pointer, std::size_t bytes) noexcept;

/// A live handle, for listings.
struct handle_info {
    handle which;
    std::uint32_t holders = 0; ///< number of times acquired and not released
    tag owner;                 ///< owner tag of the thread that added it
    const char* kind = "";     ///< the name given to add()
    std::uint64_t age_ns = 0;
    void* const* stack = nullptr; ///< return addresses of the call that added it, with option handle_stack_frames
    std::size_t stack_count = 0;
};

/// Figures of a handle table.
struct handle_usage {
    std::size_t live_count = 0;
    std::size_t live_bytes = 0;
    std::size_t held_count = 0;    ///< live handles that are held
    std::size_t entry_count = 0;   ///< entries ever used
    std::size_t retired_count = 0; ///< entries that are never used again: their generations are used up
};

namespace detail {

/// The word of an entry: the holder count in the upper half, the generation in the lower half. A count that overflows
/// is cut off and never changes the generation. Odd generations are live.
// Released by add() after the record, and by release(); acquired by acquire(), remove() and listings.
using handle_word = atomic<std::uint64_t>;
/// A second copy of each entry's generation, apart from the words: threads that only check do not contend with threads
/// that count. remove() changes it after the word and before it frees the memory.
// Released and acquired: who sees a generation in it sees the word of that generation.
using handle_generation = atomic<std::uint32_t>;
constexpr std::uint64_t one_holder = std::uint64_t{1} << 32;
/// The last even generation: an entry that reaches it is retired.
constexpr std::uint32_t retired_generation = UINT32_MAX - 1;
/// Maximum holders of a handle. Acquiring beyond it fails, long before the count can overflow.
constexpr std::uint32_t max_holders = UINT32_MAX >> 1;

[[nodiscard]] constexpr std::uint32_t generation_in(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
}
[[nodiscard]] constexpr std::uint32_t holders_in(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
}

struct handle_record;
struct handle_stack;
struct handle_table_access;

}

struct handle_table_options {
    std::uint32_t max_entries = std::uint32_t{1} << 28;
    std::uint32_t first_generation = 0; ///< of new entries, even; tests start near the end
};

class TENURE_API handle_table {
public:
    /// Takes no memory from the system until the first add().
    explicit constexpr handle_table(handle_table_options options = {}) noexcept
        : options_(options), fork_(platform::fork_order::objects, this, fork_steps) {}
    /// Frees the table, not the memory of its handles. Requires  its handles are no longer used.
    ~handle_table();
    handle_table(const handle_table&) = delete;
    handle_table& operator=(const handle_table&) = delete;

    /// The process's table, which buffers, C and C# use. It is never destroyed.
    [[nodiscard]] TENURE_LOCAL static handle_table& process() noexcept;

    /// Adds memory to the table. remove() calls `releaser`, if given, to free it. `kind` must outlive the table.
    /// Returns   a handle that is live until it is removed; one with entry zero when the system is out of memory.
    [[nodiscard]] handle add(void* pointer, std::size_t bytes, handle_releaser releaser = nullptr,
                             const char* kind = "memory") noexcept;

    /// Whether the handle still refers to live memory.
    [[nodiscard]] TENURE_LOCAL bool is_live(const handle& which) const noexcept {
        return generation_of(which) == which.generation;
    }

    /// Holds the memory: the handle cannot be removed until release().
    /// Fails     stale_handle; invalid_argument when it is already held two thousand million times.
    TENURE_LOCAL status acquire(const handle& which) noexcept;
    /// Fails     stale_handle; not_held when it was already released as often as acquired.
    TENURE_LOCAL status release(const handle& which) noexcept;

    /// Frees the memory. The handle and all its copies are stale from now on.
    /// Fails     stale_handle; still_held, with the number of holders: nothing has changed. Checked builds also report
    ///           the holders. A mistaken acquire() of a stale handle counts for some nanoseconds on the entry's current
    ///           handle, so remove() checks a held handle several times, for about a millisecond, before it fails.
    status remove(const handle& which, std::uint32_t* holders = nullptr) noexcept;

    /// Number of times the handle is held; zero if it is stale.
    [[nodiscard]] std::uint32_t holders(const handle& which) const noexcept;

    /// Calls `visit(const handle_info&)` for every live handle. Other threads may add and remove handles meanwhile.
    /// Each handle is reported as of some moment during the call; one that is being removed may still appear.
    /// Cost      O(entries ever used).
    template<class Visit>
    void for_each_live(Visit&& visit) const {
        visit_live([](void* to, const handle_info& info) { (*static_cast<Visit*>(to))(info); }, &visit);
    }

    /// Cost      O(entries ever used).
    [[nodiscard]] handle_usage usage() const noexcept;

    /// Reports live handles of at least this age as report_kind::leak: up to twenty of them, then the total.
    /// Returns   their number; tests expect zero.
    std::size_t report_live(std::uint64_t least_age_ns = 0) const noexcept;

    /// Address of entry zero's word, which language bindings use to check handles without a call. It never moves.
    /// Returns   nullptr when the system has no address space left.
    [[nodiscard]] const detail::handle_word* words() noexcept;

    /// Address of entry zero's generation; see words().
    [[nodiscard]] const detail::handle_generation* generations() noexcept;

    /// Walks every entry and checks that the table is consistent. Requires  no other thread uses it during the call.
    [[nodiscard]] bool valid() const noexcept;

private:
    friend struct detail::handle_table_access;

    // A freed entry returns to the stack it came from: if one thread only adds and another only removes, the first
    // reuses the entries of the second. Each cache line of words belongs to one stack, so threads on other stacks do
    // not contend.
    static constexpr std::uint32_t stack_count = 8;
    static constexpr std::uint32_t entries_per_line = cache_line_bytes / sizeof(detail::handle_word);

    struct alignas(cache_line_bytes) entry_stack {
        // The top is released by push() and acquired by pop(): the entry's `next`, and what its last user did. The line
        // is written under the lock: relaxed.
        detail::atomic<std::uint64_t> top{0};       ///< an entry, and above it a number that changes with each pop
        detail::atomic<std::uint32_t> next_line{0}; ///< the stack's next line that was never used
    };

    [[nodiscard]] TENURE_LOCAL detail::handle_word& word_of(const handle& which) const noexcept {
        return words_.load(detail::memory_order::acquire)[which.entry]; // entry zero's word, until the table is open
    }
    [[nodiscard]] TENURE_LOCAL std::uint32_t generation_of(const handle& which) const noexcept {
        return generations_.load(detail::memory_order::acquire)[which.entry].load(detail::memory_order::acquire);
    }
    [[nodiscard]] static constexpr std::uint32_t stack_of(std::uint32_t entry) noexcept {
        return entry / entries_per_line % stack_count;
    }
    [[nodiscard]] std::uint32_t allocate_entry() noexcept;
    [[nodiscard]] std::uint32_t pop(entry_stack& from) noexcept;
    void push(std::uint32_t entry) noexcept;
    [[nodiscard]] std::uint32_t add_line(std::uint32_t stack) noexcept;
    [[nodiscard]] bool open() noexcept;
    [[nodiscard]] bool commit(std::uint32_t entries) noexcept;
    void note_stack(std::uint32_t entry) noexcept;
    TENURE_COLD status undo_acquire(detail::handle_word& word, std::uint64_t before, const handle& which) noexcept;
    TENURE_COLD status undo_release(detail::handle_word& word, std::uint64_t before, const handle& which) noexcept;
    [[nodiscard]] bool read(std::uint32_t entry, handle_info& into, void** frames) const noexcept;
    void visit_live(void (*visit)(void* context, const handle_info&), void* context) const noexcept;
    void note_holder(const handle& which) noexcept;
    void forget_holder(const handle& which) noexcept;

    static const platform::fork_steps fork_steps;

    static constinit detail::handle_word nothing; ///< entry zero of every table that is not open yet
    static constinit detail::handle_generation no_generation;

    // open() releases them, the words last. Who acquires the words, or holds an entry, may load the others relaxed.
    detail::atomic<detail::handle_word*> words_{&nothing};
    detail::atomic<detail::handle_generation*> generations_{&no_generation};
    detail::atomic<detail::handle_record*> records_{nullptr};
    // Released under the lock, acquired by listings, which use an entry's frames only after their count.
    detail::atomic<detail::handle_stack*> stacks_{nullptr};
    // Released after the arrays are committed up to it; listings acquire it.
    detail::atomic<std::uint32_t> entries_end_{0}; ///< one past the last entry ever used
    std::uint32_t committed_ = 0;                  ///< entries
    std::uint32_t reserved_ = 0;                   ///< entries
    handle_table_options options_;
    platform::mutex mutex_;       ///< for the two above, and for opening the table
    platform::fork_handler fork_; ///< enlisted before the first lock: a constant has no constructor to do it
    entry_stack stacks_of_free_[stack_count];
};

namespace detail {

/// Never destroyed: handles are checked until the very end of the process.
union process_handle_table {
    constexpr process_handle_table() noexcept : table() {}
    ~process_handle_table() {}
    handle_table table;
};
extern TENURE_API process_handle_table process_handles;

}

// Inline, because a call would cost more than the check that follows.
inline handle_table& handle_table::process() noexcept { return detail::process_handles.table; }

// acquire() and release() add first, check afterwards, and undo the addition if the handle was stale: compare-and-swap
// loops cost half as much again. A mistaken acquire() counts for some nanoseconds on the entry's current handle, and
// remove() waits for that. A mistaken release() would let a remove() succeed while the memory is held, so release()
// first checks the separate generation. acquire() pairs with the addition in add(), release() with remove(), which both
// change the word. Fetching the word for this check costs one and a half times as much when two
// threads contend.

inline status handle_table::acquire(const handle& which) noexcept {
    detail::handle_word& word = word_of(which);
    const std::uint64_t before = word.fetch_add(detail::one_holder, detail::memory_order::acquire);
    const bool is_full = detail::holders_in(before) >= detail::max_holders;
    if (detail::generation_in(before) != which.generation || is_full) [[unlikely]]
        return undo_acquire(word, before, which);
    if constexpr (checks::caller) note_holder(which);
    return status::ok;
}

inline status handle_table::release(const handle& which) noexcept {
    if (generation_of(which) != which.generation) [[unlikely]]
        return status::stale_handle;
    if constexpr (checks::caller) forget_holder(which);
    detail::handle_word& word = word_of(which);
    const std::uint64_t before = word.fetch_sub(detail::one_holder, detail::memory_order::release);
    if (detail::generation_in(before) != which.generation || detail::holders_in(before) == 0) [[unlikely]]
        return undo_release(word, before, which);
    return status::ok;
}

}
