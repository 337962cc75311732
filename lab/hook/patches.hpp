// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Functions of the program whose begin and end are seen although nobody exports them: their first instructions are
/// moved elsewhere, a jump to us stands in their place, and while they run their return address is ours.
///
/// What is moved, and how, was planned by the command (watch/patch_plan.hpp), which knows the instructions; here the
/// plan is only carried out, if the bytes are those that it was made for.
///
/// While the process has one thread, nobody else executes what is written. With several, a function is patched only
/// where one aligned store replaces one instruction: a thread executes the old one or the jump. Where it would replace
/// several, a thread may stand between two of them, and nothing is written: the report says so. A function whose pages
/// the system does not make writable, or executable again, stays as it was, and the report says so too, also when its
/// pages stay writable.

#include <cstdint>

namespace tenure::lab::hook {

constexpr std::uint32_t max_patches = 32;
constexpr std::uint32_t max_patched_bytes = 32, max_moved_bytes = 96, max_fixes = 8;

enum class fix_kind : std::uint32_t { distance, low_half, high_half };

/// Four bytes of moved code that depend on where it and the module come to lie.
struct code_fix {
    fix_kind kind;      ///< the distance to an address, or a half of it
    std::uint32_t at;   ///< in the moved code
    std::uint32_t next; ///< where, in the moved code, the instruction ends: distances count from there
    std::uint32_t unused;
    std::uint64_t target; ///< address in the file's own numbering
};

/// One function, as the command writes it to the plan's file, one after the other.
struct planned_patch {
    char module[256]; ///< the file that it is in
    char name[96];
    std::uint64_t address; ///< in the file's own numbering
    std::uint32_t bytes;   ///< of whole instructions at its begin, at least 5
    std::uint32_t moved_bytes;
    unsigned char original[max_patched_bytes];
    unsigned char moved[max_moved_bytes];
    std::uint32_t fixes;
    std::uint32_t first_bytes; ///< of the first instruction alone
    code_fix fix[max_fixes];
};

/// Carries out what of the plan is for modules that are loaded. At the start, and after a library was loaded.
void apply_patches() noexcept;
void read_plan(const char* path) noexcept;
/// In the child of a fork, whose table of regions is a new one.
void forget_patch_regions() noexcept;
/// Of a thread that ends: nobody returns any more.
void forget_entered() noexcept;

/// What stood where `found` stands now, if that is ours; 0 otherwise.
[[nodiscard]] std::uintptr_t replaced_return(std::uintptr_t found, std::uintptr_t slot) noexcept;
/// Whether a return address is ours: it stands for a frame that is no function.
[[nodiscard]] bool is_return_of_ours(std::uintptr_t address) noexcept;

}
