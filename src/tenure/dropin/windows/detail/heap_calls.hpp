// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// What the C runtimes call in place of the system's heap functions.
///
/// A block of the process heap can reach a runtime's own free(): a module has asked for that function's address before
/// the drop-in was loaded, or the runtime frees or resizes a block that the program has passed to it. The runtime gives
/// it to the system's heap, which would be damaged. So this is where such a block is found and freed.

#include <span>

#include <tenure/platform/windows/imports/redirect.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// The libraries of the system whose functions are replaced in C runtimes.
[[nodiscard]] std::span<platform::redirected_library> libraries_below_runtimes() noexcept;

}
