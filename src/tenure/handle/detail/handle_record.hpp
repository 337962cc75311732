// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the table stores for an entry besides its word.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/handle/handle_table.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Written before the entry is live and read by listings at any time. What a listing reads counts only if the
/// generation is the same before and after.
struct handle_record {
    // Released one by one and acquired by listings: one that sees a later value sees the changed generation, too.
    // remove() has acquired the word and loads relaxed. `next` is relaxed: the top of the stack of free entries orders
    // it.
    std::atomic<void*> pointer;
    std::atomic<std::size_t> bytes;
    std::atomic<handle_releaser> releaser;
    std::atomic<const char*> kind;
    std::atomic<std::uint64_t> born_ns;
    std::atomic<std::uint32_t> next; ///< in its free list, while the entry is free
    std::atomic<std::uint16_t> tag;
    std::atomic<std::uint16_t> frame_count;
};
static_assert(sizeof(handle_record) == 48);

/// Return addresses of the call that added an entry. The pages are touched only with option handle_stack_frames.
struct handle_stack {
    static constexpr std::size_t capacity = 16;
    // Released before the record's count of them; a listing acquires both.
    std::atomic<void*> frames[capacity];
};
static_assert(sizeof(handle_stack) == 128);

/// Writes the process's live handles as option handle_report says. Called once, when the program ends.
void report_handles_at_exit() noexcept;

}
