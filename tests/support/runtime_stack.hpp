// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the compiler's runtime says of call stacks.

#include <unwind.h>

namespace support {

/// Whether the runtime tells of a caller in any case. Where the caller's code has no unwind table (musl's has none),
/// the stack ends: GCC's runtime tells of that caller as the last, LLVM's does not.
inline bool is_told_by_runtime(void* return_address) {
    return ::_Unwind_FindEnclosingFunction(return_address) != nullptr;
}

}
