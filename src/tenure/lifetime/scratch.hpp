// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two stacks of Temp per thread: one for the results of a function, the other for its scratch memory.
///
/// Use it for     a function that returns memory in Temp and needs scratch memory to compute it. It takes the stack for
///                its results as an argument and opens a scratch_scope on the other one. The idea of two stacks and
///                "not the one that the caller uses" is Ryan Fleury's, in the RAD Debugger.
/// Not for        functions that return nothing in Temp: a temp_scope is enough (lifetime/temp.hpp).
/// Memory from    as Temp. The second stack has a range of its own, reserved when a thread first uses it.
/// Cost           allocate O(1): Temp's, a test of the stack and a load. A scope on the second stack: about 3 ns.
/// Overhead       as Temp; 4 MiB of addresses (option temp_budget_bytes) per thread that uses the second stack.
/// Threads        a stack is the calling thread's: each thread has its own two under the same names.
/// Fork           as Temp.
/// When full      as Temp.
/// Example        examples/scratch.cpp

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/lifetime/temp.hpp>

namespace tenure::inline TENURE_ABI {

/// One of the calling thread's two stacks, as an allocator: `std::vector<int, stl_allocator<int, temp_stack>>`. There
/// are two objects, first() and second(); pass them by reference.
class temp_stack {
public:
    /// Temp itself: what `temp` and lifetime::temp allocate from.
    [[nodiscard]] TENURE_LOCAL static temp_stack& first() noexcept;
    [[nodiscard]] TENURE_LOCAL static temp_stack& second() noexcept;
    /// The stack that is not this one.
    [[nodiscard]] TENURE_LOCAL temp_stack& other() const noexcept;

    temp_stack(const temp_stack&) = delete;
    temp_stack& operator=(const temp_stack&) = delete;

    /// Zero bytes count as one.
    /// Requires  `alignment` is a power of two.
    /// Returns   memory valid until the end of the innermost scope on this stack, reset() or the frame; nullptr when
    ///           out of memory.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// As temp::deallocate().
    TENURE_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t alignment = default_alignment) noexcept;

    /// Whether the pointer is in this stack of the calling thread. Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API bool owns(const void* pointer) const noexcept;
    [[nodiscard]] TENURE_API temp_stats stats() const noexcept;
    /// Cost      O(overflow chunks).
    [[nodiscard]] TENURE_API bool valid() const noexcept;

    /// See stl_allocator: in checked builds a container remembers the scope in which it was made.
    class container_origin;

private:
    friend class scratch_scope;
    struct for_library {};
    constexpr explicit temp_stack(for_library) noexcept {}
    /// By the address, which the compiler often knows.
    [[nodiscard]] TENURE_LOCAL bool is_second() const noexcept { return this == &the_second; }

    [[nodiscard]] TENURE_API static void* allocate_second(std::size_t bytes, std::size_t alignment) noexcept;
    TENURE_API static void deallocate_second(void* block, std::size_t bytes) noexcept;

    static TENURE_API constinit temp_stack the_first, the_second;
};

/// Frees everything that the calling thread allocates from one of its stacks inside the scope: by default from the
/// second, otherwise from the one that is not `results`. Memory that lives on the stack of the results is not touched.
/// Scopes nest and end in reverse order. Pass the scope on as the stack for the results of a function whose results are
/// scratch memory here.
class [[nodiscard]] scratch_scope {
public:
    [[nodiscard]] TENURE_LOCAL scratch_scope() noexcept : scratch_scope(temp_stack::first()) {}
    [[nodiscard]] TENURE_LOCAL explicit scratch_scope(const temp_stack& results) noexcept;
    TENURE_LOCAL ~scratch_scope();
    scratch_scope(const scratch_scope&) = delete;
    scratch_scope& operator=(const scratch_scope&) = delete;

    [[nodiscard]] temp_stack& stack() const noexcept { return stack_; }
    operator temp_stack&() const noexcept { return stack_; } // NOLINT: implicit, because a scope stands for its stack

    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes,
                                              std::size_t alignment = default_alignment) const noexcept {
        return stack_.allocate(bytes, alignment);
    }

private:
    TENURE_API void open_checked() noexcept;
    TENURE_API void end_slow() noexcept;

    temp_stack& stack_;
    std::uintptr_t cursor_;
    std::uint64_t chunk_;
    std::uint64_t depth_ = 0; // in checked builds: nesting depth and stack
};

class temp_stack::container_origin : public detail::temp_origin {
public:
    explicit container_origin(const temp_stack& stack) noexcept : temp_origin(stack.is_second()) {}
};

inline temp_stack& temp_stack::first() noexcept { return the_first; }
inline temp_stack& temp_stack::second() noexcept { return the_second; }
inline temp_stack& temp_stack::other() const noexcept { return is_second() ? the_first : the_second; }

inline void* temp_stack::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (!is_second()) return temp::allocate(bytes, alignment);
    if constexpr (!checks::caller) {
        detail::temp_position& at = detail::this_thread().stacks->second;
        const std::uintptr_t block = alignment <= temp::rounding_bytes ? at.cursor : align_up(at.cursor, alignment);
        const std::uintptr_t end = block + align_up(bytes + (bytes == 0), temp::rounding_bytes);
        // As in temp::allocate().
        if (bytes <= max_object_bytes - temp::rounding_bytes && end <= at.limit) [[likely]] {
            at.cursor = end;
            return pointer_at(block);
        }
    }
    return allocate_second(bytes, alignment);
}

inline void temp_stack::deallocate(void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (!is_second()) return temp::deallocate(block, bytes, alignment);
    if constexpr (!checks::caller) {
        detail::temp_position& at = detail::this_thread().stacks->second;
        if (address_of(block) + align_up(bytes + (bytes == 0), temp::rounding_bytes) != at.cursor) return;
        if (address_of(block) != at.floor) [[likely]] {
            at.cursor = address_of(block);
            return;
        }
    }
    deallocate_second(block, bytes);
}

inline scratch_scope::scratch_scope(const temp_stack& results) noexcept
    : stack_(results.other()),
      cursor_(stack_.is_second() ? detail::this_thread().stacks->second.cursor : detail::this_thread().temp_cursor),
      chunk_(stack_.is_second() ? detail::this_thread().stacks->second.chunk : detail::this_thread().temp_chunk) {
    if constexpr (checks::caller) open_checked();
}

inline scratch_scope::~scratch_scope() {
    if constexpr (!checks::caller) {
        std::uintptr_t& cursor =
            stack_.is_second() ? detail::this_thread().stacks->second.cursor : detail::this_thread().temp_cursor;
        const std::uint64_t chunk =
            stack_.is_second() ? detail::this_thread().stacks->second.chunk : detail::this_thread().temp_chunk;
        // As in ~temp_scope().
        if (chunk == chunk_ && detail::this_thread_tag().id == 0 && cursor_ != 0) [[likely]] {
            if (cursor_ < cursor) cursor = cursor_;
            return;
        }
    }
    end_slow();
}

}
