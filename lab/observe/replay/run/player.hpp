// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loop that makes the calls of a plan. What happens around each call is a parameter: nothing in the timed loop,
/// reading the clock, or filling and checking contents.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "observe/replay/plan/replay_plan.hpp"
#include "observe/replay/run/redirects.hpp"

namespace tenure::lab {

/// How many operations ahead the loop fetches the slot of an operation.
inline constexpr std::size_t fetched_ahead = 8;

/// Why a replay was not made to its end.
inline constexpr std::string_view no_memory = "the allocator had no memory for a block of the trace";

/// Makes one allocating call.
/// Returns   nullptr when the allocator has no memory; operator new throws std::bad_alloc then.
[[nodiscard]] inline void* make_block(const plan_op& op, redirects& to) {
    const std::size_t bytes = static_cast<std::size_t>(op.bytes);
    const std::size_t alignment = std::size_t{1} << op.alignment_log2;
    switch (op.call) {
    case plan_call::allocate: return std::malloc(bytes);
    case plan_call::zeroed: return std::calloc(1, bytes);
    case plan_call::aligned: {
        void* made = nullptr;
        return ::posix_memalign(&made, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) == 0 ? made
                                                                                                          : nullptr;
    }
    // The forms that throw, as programs call them: libstdc++'s other form is a call more, and makes this one.
    case plan_call::operator_new: return ::operator new(bytes);
    case plan_call::aligned_new: return ::operator new (bytes, std::align_val_t{alignment});
    case plan_call::take: return to.take(op);
    case plan_call::take_zeroed: return to.take_zeroed(op);
    default: return nullptr;
    }
}

/// Makes one freeing call.
inline void free_block(const plan_op& op, void* block, redirects& to) {
    switch (op.call) {
    case plan_call::release: return std::free(block);
    case plan_call::operator_delete: return ::operator delete(block);
    case plan_call::aligned_delete:
        return ::operator delete (block, std::align_val_t{std::size_t{1} << op.alignment_log2});
    case plan_call::give: return to.give(op, block);
    default: return;
    }
}

[[nodiscard]] constexpr bool is_allocating(plan_call call) {
    return call <= plan_call::aligned_new || call == plan_call::take || call == plan_call::take_zeroed;
}
[[nodiscard]] constexpr bool is_freeing(plan_call call) {
    return (call >= plan_call::release && call <= plan_call::aligned_delete) || call == plan_call::give;
}

/// What happens around the calls: nothing. Derive from it and define again what is needed.
struct bare_around {
    bool wait(const plan_op&) { return true; } ///< before an operation; false: it cannot be made
    void done(const plan_op&) {}               ///< after it
    void before(const plan_op&) {}             ///< before the call itself
    void after(const plan_op&) {}              ///< after it
    void ending(const plan_op&, void*) {}      ///< a block is about to be freed, or its memory to end
    void moving(const plan_op&, void*) {}      ///< a realloc is about to be made
    /// A block is there, new or after a realloc. `written`: bytes of it that the program has written before.
    void made(const plan_op&, void*, std::uint64_t) {}
    /// The program called realloc, or asked for less than was reserved: the block has room.
    void kept(const plan_op&, void*, std::uint64_t) {}
};

/// What a thread's replay keeps from one piece of its operations to the next.
struct player_state {
    redirected_scopes scopes;
    std::uint64_t written = 0; ///< of the next operation's block: see plan_call::written
};

/// As play(), and throws std::bad_alloc where operator new had no memory.
template<class Around>
[[nodiscard]] bool play_all(std::span<const plan_op> ops, void** held, redirects& to, Around& around,
                            player_state& state) {
    const plan_op* const end = ops.data() + ops.size();
    const plan_op* const last_fetched = ops.size() > fetched_ahead ? end - fetched_ahead : ops.data();
    for (const plan_op* each = ops.data(); each != end; ++each) {
        const plan_op& op = *each;
        if (each < last_fetched) __builtin_prefetch(held + each[fetched_ahead].slot, 1);
        void*& slot = held[op.slot];
        if (!around.wait(op)) [[unlikely]]
            return false;
        switch (op.call) {
        case plan_call::allocate:
        case plan_call::zeroed:
        case plan_call::aligned:
        case plan_call::operator_new:
        case plan_call::aligned_new:
        case plan_call::take:
        case plan_call::take_zeroed: {
            around.before(op);
            void* const block = make_block(op, to);
            around.after(op);
            if (block == nullptr) [[unlikely]]
                return false;
            slot = block;
            around.made(op, block, std::exchange(state.written, 0));
            break;
        }
        case plan_call::resize: {
            around.moving(op, slot);
            around.before(op);
            void* const block = std::realloc(slot, op.bytes == 0 ? 1 : static_cast<std::size_t>(op.bytes));
            around.after(op);
            if (block == nullptr) [[unlikely]]
                return false;
            slot = block;
            around.made(op, block, std::exchange(state.written, 0));
            break;
        }
        case plan_call::release:
        case plan_call::operator_delete:
        case plan_call::aligned_delete:
        case plan_call::give:
            around.ending(op, slot);
            around.before(op);
            free_block(op, slot, to);
            around.after(op);
            slot = nullptr;
            break;
        case plan_call::drop:
            around.ending(op, slot);
            slot = nullptr;
            break;
        case plan_call::keep: around.kept(op, slot, std::exchange(state.written, 0)); break;
        case plan_call::open: state.scopes.open(); break;
        case plan_call::close: state.scopes.close(); break;
        case plan_call::clear: to.clear(op); break;
        case plan_call::frame: next_frame(); break;
        case plan_call::written: state.written = op.bytes; break;
        }
        around.done(op);
    }
    return true;
}

/// Plays operations of one thread.
/// Returns   false when the allocator had no memory; the blocks that exist are in `held`, by slot.
template<class Around>
[[nodiscard]] bool play(std::span<const plan_op> ops, void** held, redirects& to, Around& around, player_state& state) {
    try {
        return play_all(ops, held, to, around, state);
    } catch (const std::bad_alloc&) {
        return false;
    }
}

}
