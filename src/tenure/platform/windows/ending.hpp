// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// The end of the process.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Whether the process ends: its other threads were stopped wherever they were, and may hold locks of the system.
[[nodiscard]] bool is_process_ending() noexcept;

}
