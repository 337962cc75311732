// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A limit for the experiments of the heap: a free list per size and thread, over a range that each thread bumps
/// through. It finds the list by the size passed to it, checks nothing and returns nothing; blocks stay with the thread
/// that frees them.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>

namespace tenure::lab {

enum class range_pages : std::uint8_t { untouched, touched };

template<range_pages Pages>
class size_lists {
public:
    /// Room for `max_bytes` in each thread, after rounding, and as much again for blocks from other threads.
    explicit size_lists(std::size_t max_bytes) { range_bytes = align_up(4 * max_bytes, platform::page_bytes()); }

    /// Maps the calling thread's range.
    void begin_thread() {
        if (state.next != nullptr) return;
        void* const range = platform::map(range_bytes, platform::page_bytes());
        if (range == nullptr) return;
        if (Pages == range_pages::touched) std::memset(range, 1, range_bytes);
        state.next = static_cast<char*>(range);
        state.end = state.next + range_bytes;
    }

    void* allocate(std::size_t bytes) {
        const std::size_t list = list_of(bytes);
        link* const first = state.lists[list];
        if (first == nullptr) [[unlikely]]
            return bump(list);
        state.lists[list] = first->next;
        return first;
    }
    void deallocate(void* block, std::size_t bytes) {
        const std::size_t list = list_of(bytes);
        state.lists[list] = new (block) link{state.lists[list]};
    }
    bool trim() { return false; }

private:
    struct link {
        link* next;
    };
    static constexpr std::size_t exact = 512, step = 16; ///< above `exact`, sizes are rounded to powers of two
    static constexpr std::size_t list_count = exact / step + 32;

    struct thread_state {
        std::array<link*, list_count> lists;
        char *next, *end;
    };

    static constexpr std::size_t list_of(std::size_t bytes) {
        if (bytes <= exact) return (bytes - 1) / step;
        return exact / step + static_cast<std::size_t>(std::bit_width((bytes - 1) / exact)) - 1;
    }
    static constexpr std::size_t bytes_of(std::size_t list) {
        return list < exact / step ? (list + 1) * step : exact << (list - exact / step + 1);
    }
    static_assert(bytes_of(list_of(1)) == 16 && bytes_of(list_of(512)) == 512);
    static_assert(bytes_of(list_of(513)) == 1024 && bytes_of(list_of(1024)) == 1024 && bytes_of(list_of(1025)) == 2048);

    void* bump(std::size_t list) {
        begin_thread();
        if (static_cast<std::size_t>(state.end - state.next) < bytes_of(list)) return nullptr;
        void* const block = state.next;
        state.next += bytes_of(list);
        return block;
    }

    // Static, like the state of an allocator for any caller.
    static inline thread_local constinit thread_state state{};
    static inline constinit std::size_t range_bytes = 0;
};

}
