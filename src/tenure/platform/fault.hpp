// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A hook for accesses to memory that must not be touched.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// What the access wanted to do, if the processor tells.
enum class fault_access : std::uint8_t { unknown, read, write };

struct fault {
    const void* address; ///< nullptr when the processor does not tell it
    fault_access access;
    const void* context; ///< what the system passes to a signal handler

    /// Fills `frames` with the instruction that faulted and the return addresses of its callers.
    /// Returns   the number of frames.
    [[nodiscard]] TENURE_API std::size_t walk_stack(void** frames, std::size_t capacity) const noexcept;
};

/// Called on the faulting thread, in the signal handler. It may have a few hundred bytes of stack: see report_fault().
/// Returns   whether it could explain the fault.
using fault_function = bool (*)(const fault&) noexcept;

/// Calls `function` on every fault of an access from now on. The process keeps at most four functions; the same one
/// counts once. Whether or not a function explains the fault, it is then handled as without this library: by the
/// handler that the program had installed before the first call, or by the system's default action. A handler that the
/// program installs later replaces this one. A signal that the program ignores stays ignored.
/// Nothing is installed by a copy of the library in a plug-in that can be unloaded.
/// Returns   whether the function will be called.
TENURE_API bool on_fault(fault_function function) noexcept;

/// Calls `write` in a fault_function: on a stack of its own, because the one of the signal handler may be short, with
/// all signals blocked, and on one thread at a time. Another thread waits for some seconds, and then writes nothing.
TENURE_API void report_fault(void (*write)(const fault&, const void* argument) noexcept, const fault& what,
                             const void* argument) noexcept;

}
