// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The OpenMP tools interface (specification 5.1, chapter 4), as far as the hook uses it. LLVM's library calls it.

#include <cstdint>

namespace tenure::lab::hook {

/// Whether a library has started the hook as its tool and reports its regions.
[[nodiscard]] bool has_openmp_tool() noexcept;

/// Whether a call comes from such a library, which spins and yields while it waits.
[[nodiscard]] bool is_openmp_waiting(std::uintptr_t caller) noexcept;

}
