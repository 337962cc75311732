// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Which functions are replaced by which in import tables, found by the address that a table has.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// In which modules a function is replaced.
enum class replaced_in : std::uint8_t { c_runtimes, other_modules, all_modules };

/// A sorted table. By address and not by name: a module may import a C runtime's function by its ordinal, by a name of
/// an API set, or through a library that forwards it.
///
/// Threads   one at a time.
class replacements {
public:
    constexpr replacements() noexcept = default;
    replacements(const replacements&) = delete;
    replacements& operator=(const replacements&) = delete;

    /// Does nothing if the function has a replacement, or the table is full.
    void add(const void* function, const void* replacement, replaced_in where) noexcept;
    void remove(const void* function) noexcept;
    /// What replaces the function in such modules, c_runtimes or other_modules; zero: nothing.
    [[nodiscard]] std::uintptr_t find(std::uintptr_t function, replaced_in where) const noexcept;

private:
    static constexpr std::size_t capacity = 448;
    static constexpr std::size_t filter_bits = 4096;
    struct entry {
        std::uintptr_t function, replacement;
        replaced_in where;
    };

    [[nodiscard]] std::size_t position_of(std::uintptr_t function) const noexcept;
    [[nodiscard]] static std::size_t bit_of(std::uintptr_t function) noexcept { return function / 4 % filter_bits; }

    entry entries_[capacity]{};
    std::size_t count_ = 0;
    std::uint64_t filter_[filter_bits / 64]{}; ///< most imports are of functions that nothing replaces
};

}
