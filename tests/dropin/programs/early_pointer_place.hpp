// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an unrelocated drop-in reads instead of its early pointer.

#include <cstdint>

#include <tenure/platform/early_pointer.hpp>

/// The word at the early pointer's distance from the thread pointer. Calls nothing, so that a resolver may use it.
inline std::uint64_t word_at_early_pointer_place() {
    const auto pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    constexpr auto distance = static_cast<std::uintptr_t>(tenure::platform::early_pointer_distance);
    return *reinterpret_cast<const volatile std::uint64_t*>(pointer + distance);
}
