// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The functions that the hook stands in front of.

#include "hook/calls.hpp"

namespace tenure::lab::hook {

extern void* real_functions[call_count];

/// Finds one that was not there at the start: of a library that the program has loaded since, or before our constructor
/// has run. Ends the process with a word when there is none: somebody calls a function that nobody has.
[[nodiscard]] void* find_real(call which) noexcept;

/// Null when no library of the process has it.
[[nodiscard]] void* find_real_or_null(call which) noexcept;

/// dlsym() itself, whose name is ours.
[[nodiscard]] void* real_dlsym() noexcept;

/// At the start: all that are there.
void find_reals() noexcept;

/// After a library was closed: what was in it is looked for anew.
void forget_closed_libraries() noexcept;
/// In the child of a fork: a thread that wrote down what it had found is not there any more.
void forget_private_writer() noexcept;

/// Whether this thread is inside the loader on our behalf: what it allocates comes from a small store of ours.
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
