// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Who still holds what: handles that go stale when what they stand for is freed, in every copy and every thread.
///
/// Use it for     memory that is passed around by value or across languages and must not be used after it is freed:
///                buffer/fixed_buffer.hpp stands on it.
/// Not for        what has one clear owner: adapt/unique.hpp.
/// Memory from    the system: addresses for every entry at once (a 64th at most of what a limited process may take, but
///                for 65,536 entries), pages as entries come into use. Never unmapped, so that a stale handle may be
///                asked about at any time.
/// Cost           a check one load and one compare; acquire and release a locked addition each; add and remove two or
///                three locked operations, no lock.
/// Overhead       60 bytes per entry, used again once it is free; 128 more with option handle_stack_frames.
/// Threads        any, for everything.
/// Fork           usable in the child. What threads that the child does not have were holding stays held; an entry that
///                such a thread was just adding or removing is lost to the child.
/// When full      add() returns a handle that is stale, and changes nothing.
/// Example        examples/handles.cpp

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {

/// What stands for a piece of memory. Copied freely; a default one is stale.
struct handle {
    void* pointer = nullptr;
    std::size_t bytes = 0;
    std::uint32_t entry = 0;
    std::uint32_t generation = 0;
    friend constexpr bool operator==(const handle&, const handle&) noexcept = default;
};
static_assert(sizeof(handle) == 24);

/// Gives the memory back when its handle is removed. Called once, on the thread that removes it.
using handle_releaser = void (*)(void* pointer, std::size_t bytes) noexcept;

/// A live handle as a listing tells it.
struct handle_info {
    handle which;
    std::uint32_t holders = 0; ///< acquired and not released
    tag owner;                 ///< of the thread that added it
    const char* kind = "";     ///< what it is, as add() was told
    std::uint64_t age_ns = 0;
    void* const* stack = nullptr; ///< return addresses of the call that added it, with option handle_stack_frames
    std::size_t stack_count = 0;
};

/// Live handles, in figures.
struct handle_usage {
    std::size_t live_count = 0;
    std::size_t live_bytes = 0;
    std::size_t held_count = 0;    ///< of them, acquired by somebody
    std::size_t entry_count = 0;   ///< ever used
    std::size_t retired_count = 0; ///< of them, never to be used again: their generations are used up
};

namespace detail {

/// The word of an entry: how many hold it in the upper half, its generation in the lower one, so that a count that
/// leaves its half falls off and never changes the generation. Odd generations are live.
using handle_word = std::atomic<std::uint64_t>;
/// What an entry's word has in its lower half, once more and apart: those who only look do not meet those who count.
/// remove() changes it after the word and before the memory is given back.
using handle_generation = std::atomic<std::uint32_t>;
constexpr std::uint64_t one_holder = std::uint64_t{1} << 32;
/// The last even one: an entry that has come to it is retired.
constexpr std::uint32_t retired_generation = UINT32_MAX - 1;
/// No handle has more. A count that comes so far is refused, long before it could fall off.
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
    std::uint32_t first_generation = 0; ///< of fresh entries, even: tests begin near the end
};

class TENURE_API handle_table {
public:
    /// Takes nothing from the system until the first add().
    explicit constexpr handle_table(handle_table_options options = {}) noexcept
        : options_(options), fork_(platform::fork_order::objects, this, fork_steps) {}
    /// Gives the table back, not what its handles stand for. Requires  nobody asks about its handles any more.
    ~handle_table();
    handle_table(const handle_table&) = delete;
    handle_table& operator=(const handle_table&) = delete;

    /// The table of buffers, of C and of C#. It is never destroyed.
    [[nodiscard]] TENURE_LOCAL static handle_table& process() noexcept;

    /// Enters memory. `releaser` gives it back at remove(); null when that is the caller's business. The text of `kind`
    /// outlives the table.
    /// Returns   a handle that is live until it is removed; one with entry zero when the system refuses.
    [[nodiscard]] handle add(void* pointer, std::size_t bytes, handle_releaser releaser = nullptr,
                             const char* kind = "memory") noexcept;

    /// Whether the handle stands for something still.
    [[nodiscard]] TENURE_LOCAL bool is_live(const handle& which) const noexcept {
        return generation_of(which) == which.generation;
    }

    /// Holds it: until the release() it cannot be removed.
    /// Fails     stale_handle; invalid_argument when it is held two thousand million times already.
    TENURE_LOCAL status acquire(const handle& which) noexcept;
    /// Fails     stale_handle; not_held when it was released as often as acquired.
    TENURE_LOCAL status release(const handle& which) noexcept;

    /// The handle and all its copies are stale from now on, and its memory is given back.
    /// Fails     stale_handle; still_held, with the number of those who hold it: nothing has changed then. In checked
    ///           builds who they are is reported as well. A mistake elsewhere, a stale handle that is acquired, counts
    ///           for some nanoseconds at whoever has the entry now: a handle that is held is looked at several times,
    ///           within a millisecond, before it is refused.
    status remove(const handle& which, std::uint32_t* holders = nullptr) noexcept;

    /// How many hold it; zero when it is stale.
    [[nodiscard]] std::uint32_t holders(const handle& which) const noexcept;

    /// Calls `visit(const handle_info&)` for every live handle. Others may come and go meanwhile: each is told as it
    /// was at some moment, and one that is removed may still be told of. Cost      O(entries ever used).
    template<class Visit>
    void for_each_live(Visit&& visit) const {
        visit_live([](void* to, const handle_info& info) { (*static_cast<Visit*>(to))(info); }, &visit);
    }

    /// Cost      O(entries ever used).
    [[nodiscard]] handle_usage usage() const noexcept;

    /// Reports what is live and at least so old, each as a leak of its own (report_kind::leak) up to twenty, then how
    /// many there are. Returns   their number: zero is what a test wants to see.
    std::size_t report_live(std::uint64_t least_age_ns = 0) const noexcept;

    /// Where entry zero's word lies: what a binding checks handles against, without a call. It never moves after this
    /// call. Null when the system refuses.
    [[nodiscard]] const detail::handle_word* words() noexcept;

    /// Where entry zero's generation lies: as words().
    [[nodiscard]] const detail::handle_generation* generations() noexcept;

    /// Walks every entry and says whether the table is consistent. Requires  no other thread uses it meanwhile.
    [[nodiscard]] bool valid() const noexcept;

private:
    friend struct detail::handle_table_access;

    // An entry goes back to the stack that it came from, or a thread that only adds would take ever fresh ones from
    // another that only removes. A line of words is of one stack, so that threads with different stacks do not meet.
    static constexpr std::uint32_t stack_count = 8;
    static constexpr std::uint32_t entries_per_line = cache_line_bytes / sizeof(detail::handle_word);

    struct alignas(cache_line_bytes) entry_stack {
        std::atomic<std::uint64_t> top{0};       ///< an entry, and above it a number that changes with each pop
        std::atomic<std::uint32_t> next_line{0}; ///< of this stack, never used so far
    };

    [[nodiscard]] TENURE_LOCAL detail::handle_word& word_of(const handle& which) const noexcept {
        return words_.load(std::memory_order_acquire)[which.entry]; // entry zero's word before the table's address
    }
    [[nodiscard]] TENURE_LOCAL std::uint32_t generation_of(const handle& which) const noexcept {
        return generations_.load(std::memory_order_acquire)[which.entry].load(std::memory_order_acquire);
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

    static constinit detail::handle_word nothing; ///< entry zero of every table without one
    static constinit detail::handle_generation no_generation;

    std::atomic<detail::handle_word*> words_{&nothing};
    std::atomic<detail::handle_generation*> generations_{&no_generation};
    std::atomic<detail::handle_record*> records_{nullptr};
    std::atomic<detail::handle_stack*> stacks_{nullptr};
    std::atomic<std::uint32_t> entries_end_{0}; ///< one past the last entry that was ever used
    std::uint32_t committed_ = 0;               ///< entries
    std::uint32_t reserved_ = 0;                ///< entries
    handle_table_options options_;
    platform::mutex mutex_;       ///< of the two above, and of opening
    platform::fork_handler fork_; ///< enlisted before the lock is first taken: a constant has no constructor to run
    entry_stack stacks_of_free_[stack_count];
};

namespace detail {

/// Never destroyed: handles are asked about until the very end.
union process_handle_table {
    constexpr process_handle_table() noexcept : table() {}
    ~process_handle_table() {}
    handle_table table;
};
extern TENURE_API process_handle_table process_handles;

}

// Inline, because a call would cost more than the check that follows.
inline handle_table& handle_table::process() noexcept { return detail::process_handles.table; }

// Additions that are looked at afterwards, and undone when the handle was stale; compare-and-swap loops cost half as
// much again. A mistaken acquire() is counted for some nanoseconds at whoever has the entry now, which remove() waits
// for. A mistaken release() would let a remove() succeed while somebody holds the memory, so it looks first: at the
// generation that lies apart, because to fetch the word for it costs one and a half times as much where two threads
// meet.

inline status handle_table::acquire(const handle& which) noexcept {
    detail::handle_word& word = word_of(which);
    std::uint64_t const before = word.fetch_add(detail::one_holder, std::memory_order_acquire);
    bool const is_full = detail::holders_in(before) >= detail::max_holders;
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
    std::uint64_t const before = word.fetch_sub(detail::one_holder, std::memory_order_release);
    if (detail::generation_in(before) != which.generation || detail::holders_in(before) == 0) [[unlikely]]
        return undo_release(word, before, which);
    return status::ok;
}

}
