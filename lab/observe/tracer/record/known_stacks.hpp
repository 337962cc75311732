// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The stacks that one thread has walked last, so that most of them need no walk.

#include <cstddef>
#include <cstdint>

#include <tenure/base/host.hpp>

#include "observe/tracer/record/settings.hpp"

namespace tenure::lab::tracer {

/// Frames of this library that a walk begins with: those of the recorder, of malloc, and of operator new around the C++
/// library's.
constexpr std::size_t max_own_frames = 6;

/// A walk and what it has found. A later walk that begins at the same address finds the same if the same return
/// addresses lie in the same places: each of them says how far it is to the next. Not so in a function whose frame
/// changes its size (alloca): there an old return address that was not overwritten can lead to callers of before.
struct known_stack {
    static constexpr std::size_t capacity = max_stack_frames + max_own_frames;

    std::uintptr_t begin; ///< zero: none
    std::uint32_t number;
    std::uint32_t count;
    std::uintptr_t places[capacity];
    std::uintptr_t frames[capacity];

    /// Whether the stack is this one now. Only what lies in `readable` is looked at.
    [[nodiscard]] bool is_there(std::uintptr_t at, const host::readable_span& readable) const noexcept {
        if (begin != at) return false;
        for (std::uint32_t index = 0; index < count; ++index) {
            const std::uintptr_t place = places[index];
            if (place < readable.begin || place >= readable.end) return false;
            if (*reinterpret_cast<const volatile std::uintptr_t*>(place) != frames[index]) return false;
        }
        return true;
    }
};

/// Four for each of 64 addresses at which walks begin. Zeroed memory is valid.
struct known_stacks {
    static constexpr std::size_t rows = 64, ways = 4;

    [[nodiscard]] known_stack* row_of(std::uintptr_t begin) noexcept { return stacks[begin / 16 % rows]; }
    /// The place for another one.
    [[nodiscard]] known_stack& next(std::uintptr_t begin) noexcept { return row_of(begin)[turn++ % ways]; }

    std::size_t turn;
    known_stack stacks[rows][ways];
};

}
