// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// OpenMP's interface for tools (specification 5.1, chapter 4), as far as it is used here: what LLVM's library calls.

#include <cstdint>

namespace tenure::lab::hook {

/// Whether a library has asked for us, and tells of its regions by itself.
[[nodiscard]] bool has_openmp_tool() noexcept;

/// Whether a call comes from such a library, which waits by turns of its own.
[[nodiscard]] bool is_openmp_waiting(std::uintptr_t caller) noexcept;

}
