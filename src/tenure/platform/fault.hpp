// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Being told of an access to memory that may not be touched.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Asked on the thread that faulted, with the address. Returns   whether it knew what the fault is.
using fault_function = bool (*)(const void* address) noexcept;

/// Asks that `function` be called at a fault, before the process ends as it would have. One function in a process; a
/// program that handles faults itself is left alone. Returns   whether it will be called.
TENURE_API bool on_fault(fault_function function) noexcept;

}
