// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Entering and leaving watched regions.

#include <cstdint>

#include "observe/hook/record/recorder.hpp"
#include "observe/hook/record/recording_format.hpp"

namespace tenure::lab::hook {

constexpr std::size_t max_mark_bytes = 63; // of a mark's name
constexpr std::uint32_t no_region = ~std::uint32_t{0};

/// Returns   the number of the region with this kind, key and name, the same in all threads of the process; no_region
/// when the table is full. `code` is its place in the program; `name` is its name or nullptr.
[[nodiscard]] std::uint32_t region_of(region_kind kind, std::uintptr_t key, std::uintptr_t code, const char* name,
                                      std::size_t name_bytes) noexcept;

/// Enters the region. `since`: when the region began, for threads that join a region that another thread has opened;
/// otherwise 0.
void enter(std::uint32_t region, std::uint64_t since) noexcept;
void leave() noexcept;

/// Enters the region unless the thread is already in it. Returns   whether leave() must be called.
[[nodiscard]] bool enter_if_outside(std::uint32_t region) noexcept;

/// Leaves the region that was entered at this depth. Regions inside it continue outside of it.
void leave_at(std::uint32_t depth) noexcept;

/// Asks the kernel now and then during long stays, because the process may end before they do.
void ask_meanwhile(thread_area& area, std::uint64_t now) noexcept;

/// Leaves the innermost region if it has this kind; otherwise does nothing.
void leave_if(region_kind kind) noexcept;

/// A region whose opening thread knows its threads. Its duration times its threads is the time to account for.
struct opened_region {
    std::uint32_t region = no_region;
    std::uint32_t threads = 1;
    std::uint64_t begin = 0;
};
void note_opened(const opened_region& opened) noexcept;
void note_closed(const opened_region& opened) noexcept;

/// Records time inside a region in which the thread waited for work.
void note_idle(std::uint64_t begin, std::uint64_t end) noexcept;

}
