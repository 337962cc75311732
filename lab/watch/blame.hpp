// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which frame of a stack its reader can do something about.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hook/calls.hpp"
#include "watch/symbols.hpp"

namespace tenure::lab {

struct watched_site;

/// The innermost frame that is not the C or C++ library's, nor a runtime's; 0 when all are.
[[nodiscard]] std::size_t blamed_frame(const std::vector<named_frame>& stack);

/// Whether a frame is the program's own, or of a library that is neither C, C++ nor a runtime for threads.
[[nodiscard]] bool is_programs_own(const named_frame& frame);

/// Whether the call went through Tenure's own functions.
[[nodiscard]] bool is_of_tenure(const std::vector<named_frame>& stack);

/// A function's name without what nobody reads: std::thread's wrapping of a lambda, arguments of templates.
[[nodiscard]] std::string readable(std::string_view function);

/// What a site costs in all: its waits, and what allocation and mapping take.
[[nodiscard]] double cost_of(const watched_site& site);

/// "waits for pthread mutex heap_lock", "malloc", "malloc waits for a lock of the C library's heap".
[[nodiscard]] std::string what_happens(const watched_site& site);

}
