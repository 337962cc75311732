// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A hook for accesses to memory that must not be touched.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Called on the faulting thread with the address. Returns   whether it could explain the fault.
using fault_function = bool (*)(const void* address) noexcept;

/// Installs `function` to be called on a fault, before the process ends as it would have. There is one function per
/// process. A program's own fault handlers stay in place. Returns   whether the function will be called.
TENURE_API bool on_fault(fault_function function) noexcept;

}
