// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Remembers the unwind rules of positions in code. A walk finds a position's rules in some 1,100 instructions, in
/// about 200 if it has found them before. Only simple rules are remembered: registers that are unchanged or saved at a
/// distance from the CFA. Nearly all positions have these.
///
/// An object may be unloaded, and another one loaded at its addresses. A remembered position is therefore used only
/// if the object that is loaded there now has the same table for it.
///
/// Threads   one at a time: a walk that finds the cache in use goes on without it. In the child of a fork during a
///           walk of another thread, that is so for ever.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/platform/posix/unwind/unwind_rules.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// How the registers of a function's caller are found.
struct unwind_step {
    static constexpr std::size_t max_saved = 12;
    std::int32_t cfa_offset;
    std::uint8_t cfa_register;
    std::uint8_t return_column;
    std::uint8_t saved_count;
    bool is_outermost;               ///< there is no caller; the rest is not set
    std::uint8_t numbers[max_saved]; ///< of registers
    std::int16_t places[max_saved];  ///< where they are saved: words from the CFA on
};

class unwind_cache {
public:
    constexpr unwind_cache() noexcept = default;
    /// Returns   false if another walk uses the cache.
    [[nodiscard]] bool begin() noexcept { return !is_used_.exchange(true, detail::memory_order::acquire); }
    void end() noexcept { is_used_.store(false, detail::memory_order::release); }
    /// Returns   nullptr if the position is not in the cache.
    [[nodiscard]] const unwind_step* find(std::uintptr_t position) const noexcept;
    /// Remembers what was found for a position, if it is simple enough.
    void keep(std::uintptr_t position, const unwind_function& found) noexcept;

private:
    static constexpr std::size_t entry_bits = 10;
    /// The table of a position, as its object's index of tables has it.
    struct table_place {
        const unsigned char* index;
        std::uint32_t number;
        std::uint32_t entry[2];
        std::uint64_t sum; ///< of the table's bytes, and of what it has in common with others
    };
    struct entry {
        std::uintptr_t position; ///< zero: none
        table_place table;
        unwind_step step;
    };

    [[nodiscard]] static bool place_of(std::uintptr_t position, const unwind_function& found,
                                       table_place& place) noexcept;
    [[nodiscard]] static bool is_still_there(std::uintptr_t position, const table_place& place) noexcept;
    [[nodiscard]] static std::size_t entry_for(std::uintptr_t position) noexcept {
        return position * std::uintptr_t{0x9E37'79B9'7F4A'7C15} >> (64 - entry_bits);
    }

    detail::atomic<bool> is_used_{false}; // a lock of the entries: acquired by begin(), released by end()
    entry entries_[std::size_t{1} << entry_bits]{};
};

}
