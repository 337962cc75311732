// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Guard bytes between the blocks of Temp, TempJob and pools, and behind arrays that grow, in checked builds: they
/// detect a write past a block's end.
///
/// The bytes have a known value and are poisoned. AddressSanitizer and Valgrind report the write itself. Without them,
/// the next check of the block finds it.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The minimum behind a block.
constexpr std::size_t tail_guard_bytes = checks::caller ? 16 : 0;
constexpr unsigned char tail_guard_fill = 0xFB;
constexpr std::uint64_t tail_guard_word = 0xFBFB'FBFB'FBFB'FBFB;

void set_poisoned_tail_guard(std::uintptr_t begin, std::uintptr_t end) noexcept;

/// Writes the guard from `begin` to `end`, at least 16 bytes, where there is no poison.
inline void write_tail_guard(std::uintptr_t begin, std::uintptr_t end) noexcept {
    std::uint64_t pattern = tail_guard_word;
    TENURE_OPAQUE(pattern); // else the compiler calls memset for a few words
    for (std::uintptr_t at = begin; at < end - sizeof pattern; at += sizeof pattern)
        std::memcpy(pointer_at(at), &pattern, sizeof pattern);
    std::memcpy(pointer_at(end - sizeof pattern), &pattern, sizeof pattern);
}

/// Writes and poisons the guard from `begin` to `end`: at least 16 bytes.
inline void set_tail_guard(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (platform::has_poison()) [[unlikely]]
        return set_poisoned_tail_guard(begin, end);
    write_tail_guard(begin, end);
}

/// Whether nobody wrote to the guard from `begin` to `end`, at least 8 bytes, where there is no poison.
[[nodiscard]] inline bool is_plain_tail_guard_whole(std::uintptr_t begin, std::uintptr_t end) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, pointer_at(end - sizeof word), sizeof word);
    std::uint64_t differs = word ^ tail_guard_word;
    for (std::uintptr_t at = begin; at < end - sizeof word; at += sizeof word) {
        std::memcpy(&word, pointer_at(at), sizeof word);
        differs |= word ^ tail_guard_word;
    }
    return differs == 0;
}

/// Whether nobody wrote to the guard from `begin` to `end`: at least 8 bytes.
[[nodiscard]] inline bool is_tail_guard_whole(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (platform::has_poison()) [[unlikely]]
        return platform::first_other(pointer_at(begin), end - begin, tail_guard_fill) == end - begin;
    return is_plain_tail_guard_whole(begin, end);
}

/// Describes a write past the end of a block: its part of the library ("Temp"), address and size, and the bytes of the
/// guard, up to `guard_end`, that were overwritten.
TENURE_COLD void describe_overrun(report_text& to, std::string_view part, std::uintptr_t block, std::size_t bytes,
                                  std::uintptr_t guard_end) noexcept;

/// What lies behind a guard.
enum class behind_guard : bool { nothing, a_block };

/// Reports that someone wrote to the guard of a block: past the end of the block or, if only the guard's end differs
/// and a block follows it, in front of that one. The guard is whole afterwards.
TENURE_COLD void report_tail_guard(std::string_view part, std::uintptr_t block, std::size_t bytes,
                                   std::uintptr_t guard_end, behind_guard behind) noexcept;

}
