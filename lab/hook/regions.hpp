// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Entering and leaving what is watched.

#include <cstdint>

#include "hook/record_file.hpp"
#include "hook/recorder.hpp"

namespace tenure::lab::hook {

constexpr std::size_t max_mark_bytes = 63; // of a mark's name
constexpr std::uint32_t no_region = ~std::uint32_t{0};

/// The region's number: the same for the same kind and key in the whole process. `code` is where it is in the program,
/// `name` what it is called, or null. no_region when the table is full.
[[nodiscard]] std::uint32_t region_of(region_kind kind, std::uintptr_t key, std::uintptr_t code, const char* name,
                                      std::size_t name_bytes) noexcept;

/// The calling thread is in the region from here on. `since`: when the region began, for threads that join one that
/// another has opened; 0 otherwise.
void enter(std::uint32_t region, std::uint64_t since) noexcept;
void leave() noexcept;

/// The same for who may be in it already: whether a leave() is due.
[[nodiscard]] bool enter_if_outside(std::uint32_t region) noexcept;

/// Leaves the one that was entered at this depth; those within it go on, outside of it.
void leave_at(std::uint32_t depth) noexcept;

/// Of stays that last: the kernel is asked now and then in their middle, because the process may end before they do.
void ask_meanwhile(thread_area& area, std::uint64_t now) noexcept;

/// Leaves the innermost region if it is of that kind: an end without its begin does nothing.
void leave_if(region_kind kind) noexcept;

/// A region whose threads are known to who opened it: its time times its threads is what is accounted for.
struct opened_region {
    std::uint32_t region = no_region;
    std::uint32_t threads = 1;
    std::uint64_t begin = 0;
};
void note_opened(const opened_region& opened) noexcept;
void note_closed(const opened_region& opened) noexcept;

/// Time of this thread that is inside a region and waits for work.
void note_idle(std::uint64_t begin, std::uint64_t end) noexcept;

}
