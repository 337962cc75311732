// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds the frame of a stack that the reader of a report can change.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "observe/hook/interpose/calls.hpp"
#include "observe/symbols/symbols.hpp"

namespace tenure::lab {

struct watched_site;

/// Returns   the innermost frame outside of the C library, the C++ library and thread runtimes; 0 when there is none.
[[nodiscard]] std::size_t blamed_frame(const std::vector<named_frame>& stack);

/// Whether a frame belongs to the program or to a library other than C, C++, Tenure and thread runtimes.
[[nodiscard]] bool is_programs_own(const named_frame& frame);

/// Whether the call went through Tenure's own functions.
[[nodiscard]] bool is_of_tenure(const std::vector<named_frame>& stack);

/// Shortens a function's name: removes the wrappers of std::thread and cuts long names.
[[nodiscard]] std::string readable(std::string_view function);

/// The total cost of a site in ns: its waits, and for allocation, release and mapping the whole time.
[[nodiscard]] double cost_of(const watched_site& site);

/// Text for a site, such as "waits in pthread_mutex_lock heap_lock", "malloc" or "malloc, which waits for a lock of the
/// heap".
[[nodiscard]] std::string what_happens(const watched_site& site);

/// Whether the call takes a lock or waits by itself, however long that took.
[[nodiscard]] bool is_lock(const watched_site& site);
/// Whether the site violates the promise of a no-wait scope that it is in.
[[nodiscard]] bool breaks_no_wait(const watched_site& site);

}
