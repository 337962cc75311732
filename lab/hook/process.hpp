// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The hook's own beginning.

#include <cstdint>

namespace tenure::lab::hook {

/// Of the first thread, and of threads that ask for no size.
[[nodiscard]] std::uintptr_t default_stack_bytes() noexcept;

/// Whether this process is one of those that are to be watched.
[[nodiscard]] bool is_process_watched() noexcept;

/// Asks to be told of the ends of threads.
void prepare_threads() noexcept;
/// Asks to be told of this one's, whoever started it.
void ask_for_end() noexcept;

}
