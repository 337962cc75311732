// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The part of a heap that threads, forks and the background thread know by its address. The heap owns it through a
/// pointer and can therefore move.

#include <cstddef>
#include <string_view>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI::detail {

struct registered_heap {
    constexpr registered_heap(std::string_view as, block_source& source, std::size_t segment_bytes,
                              std::size_t limit_bytes, passthrough_form how, platform::fork_order order,
                              const platform::fork_steps& steps) noexcept
        : name(as), core(source, segment_bytes, limit_bytes, how), fork(order, this, steps) {}

    platform::thread_slot slot;
    std::string_view name;
    heap_core core;
    platform::fork_handler fork;
    owner_link link;
};

/// Where the heaps are, for debuggers: the process heap, and the owners of thread slots with this function.
struct heap_list {
    const registered_heap* process;
    platform::slot_end_function end_of_slot;
};
extern const heap_list list_of_heaps;

}
