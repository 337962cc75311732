// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Watches functions of the program that are not exported. Their first instructions are moved elsewhere and replaced by
/// a jump to the hook; while they run, their return address is the hook's.
///
/// The command plans what to move and how (watch/patch_plan.hpp), because it can decode instructions. The hook carries
/// out the plan if the bytes in the process match those that the plan was made for.
///
/// While the process has one thread, no other thread can execute the code while it is written. With several threads, a
/// function is patched only if one aligned store replaces one instruction: a thread executes either the old instruction
/// or the jump. If the jump would replace several instructions, a thread could be between two of them; the hook then
/// writes nothing and the report says so. If the system does not make a function's pages writable, or executable again,
/// the function stays unchanged and the report says so; it also says when the pages stay writable.

#include <cstdint>

namespace tenure::lab::hook {

constexpr std::uint32_t max_patches = 32;
constexpr std::uint32_t max_patched_bytes = 32, max_moved_bytes = 96, max_fixes = 8;

enum class fix_kind : std::uint32_t { distance, low_half, high_half };

/// Four bytes of moved code that depend on the addresses of the moved code and of the module.
struct code_fix {
    fix_kind kind;      ///< the distance to an address, or one half of the address
    std::uint32_t at;   ///< offset in the moved code
    std::uint32_t next; ///< offset of the instruction's end in the moved code; distances count from there
    std::uint32_t unused;
    std::uint64_t target; ///< address in the file's own numbering
};

/// One function to patch. The command writes these to the plan file one after the other.
struct planned_patch {
    char module[256]; ///< path of the module's file
    char name[96];
    std::uint64_t address; ///< in the file's own numbering
    std::uint32_t bytes;   ///< of the whole instructions at its begin, at least 5
    std::uint32_t moved_bytes;
    unsigned char original[max_patched_bytes];
    unsigned char moved[max_moved_bytes];
    std::uint32_t fixes;
    std::uint32_t first_bytes; ///< of the first instruction alone
    code_fix fix[max_fixes];
};

/// Applies the planned patches to loaded modules. Called at the start and after a library was loaded.
void apply_patches() noexcept;
void read_plan(const char* path) noexcept;
/// For the child of a fork, which has a new region table.
void forget_patch_regions() noexcept;
/// For a thread that ends: its watched functions will not return.
void forget_entered() noexcept;

/// Returns   the real address if `found` is the hook's return address in `slot`; 0 otherwise.
[[nodiscard]] std::uintptr_t replaced_return(std::uintptr_t found, std::uintptr_t slot) noexcept;
/// Whether a return address is the hook's. It belongs to a frame that is not a function.
[[nodiscard]] bool is_return_of_ours(std::uintptr_t address) noexcept;

}
