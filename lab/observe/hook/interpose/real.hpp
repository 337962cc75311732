// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The real functions behind the ones that the hook interposes.

#include "observe/hook/interpose/calls.hpp"

namespace tenure::lab::hook {

extern void* real_functions[call_count];

/// Finds a function that was not found at the start: it is in a library that was loaded later, or it is called before
/// the hook's constructor has run. Ends the process with a message when no library has it.
[[nodiscard]] void* find_real(call which) noexcept;

/// Returns   nullptr when no library of the process has it.
[[nodiscard]] void* find_real_or_null(call which) noexcept;

/// The real dlsym(), which the hook interposes too.
[[nodiscard]] void* real_dlsym() noexcept;

/// At the start: finds all that are present.
void find_reals() noexcept;

/// After a library was closed: functions that were in it are looked up again.
void forget_closed_libraries() noexcept;
/// In the child of a fork: releases the lock of a thread that was writing in the parent.
void forget_private_writer() noexcept;

/// Whether this thread is inside the loader on behalf of the hook. Its allocations then come from the early store.
[[nodiscard]] bool is_finding() noexcept;
[[nodiscard]] void* take_early(std::size_t bytes, std::size_t alignment) noexcept;
[[nodiscard]] std::size_t early_bytes(const void* block) noexcept;
extern unsigned char early_store[];
constexpr std::size_t early_store_bytes = std::size_t{256} * 1024;
[[nodiscard]] inline bool is_early(const void* block) noexcept {
    return static_cast<std::size_t>(static_cast<const unsigned char*>(block) - early_store) < early_store_bytes;
}

template<class Signature>
[[nodiscard]] inline Signature* real(call which) noexcept {
    void* found = real_functions[static_cast<std::size_t>(which)];
    if (found == nullptr) [[unlikely]]
        found = find_real(which);
    return reinterpret_cast<Signature*>(found);
}

}
