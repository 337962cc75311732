// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the resident memory of a process goes, and which call stacks keep how much of it from going back to the
/// system: computed from a heap profile that was saved with its pages.
///
/// A heap can return whole OS pages only. A page with a block in use stays, with its free bytes. These bytes are shared
/// out among the page's blocks by their size. A sampled block with the probability p stands for 1/p blocks, as in the
/// profile, so the sum over a stack's samples, each divided by its p, is an unbiased estimate of what the stack's
/// blocks hold (Horvitz and Thompson, 1952). Where the heap's exact counts by size class say more than the samples, the
/// sums are corrected by them, as in the profile: profile/calibration.hpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tenure/base/profile_format.hpp>

#include "observe/profile/named_profile.hpp"
#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

/// Mappings of one name that are not the heap's.
struct other_memory {
    std::string name; ///< of the file, or "[stack]", …, or "memory without a name"
    std::uint64_t resident_bytes = 0;
};

/// Bytes of resident memory. The parts add up to `resident`, unless the kernel's figures and the heap's differ, because
/// the process went on meanwhile: `unexplained` then has the difference.
struct memory_parts {
    std::uint64_t resident = 0;
    std::uint64_t live = 0;    ///< blocks in use, with their rounding, without those of thread caches
    std::uint64_t cached = 0;  ///< free blocks in thread caches
    std::uint64_t held = 0;    ///< free bytes in pages with blocks in use
    std::uint64_t waiting = 0; ///< in pages without a block in use: goes back after the purge delay
    std::uint64_t slack = 0;   ///< behind huge blocks
    std::uint64_t records = 0; ///< the heap's own
    std::uint64_t others = 0;  ///< not the heap's: the sum of other_memory
    std::int64_t unexplained = 0;
};

/// What the blocks of one call stack hold beyond their own size.
struct pinning_stack {
    std::size_t stack = 0; ///< index in named_profile::stacks
    profile_format::estimate live{};
    profile_format::estimate held{};  ///< `bytes`: free bytes of their pages, as far as they are theirs
    profile_format::estimate alone{}; ///< `bytes`: of pages that go back when all these blocks are freed. At least so
                                      ///< much: of a sample, only pages with a single block are known to be
};

struct pinned_memory {
    memory_parts parts;
    std::vector<other_memory> others;    ///< the largest first
    std::vector<pinning_stack> stacks;   ///< those with live samples, by held bytes
    profile_format::estimate held{};     ///< of all stacks
    profile_format::estimate rounding{}; ///< of `parts.live`: what the blocks are larger than was asked for
    bool is_exact = false;               ///< every block was recorded
    bool is_calibrated = false;          ///< the estimates are corrected by the heap's counts: profile/calibration.hpp
    std::string malloc_file;             ///< the program's own malloc; empty: Tenure's heap
    core_facts from_core;                ///< if it is of a core file
};

/// The parts alone. Requires  `saved` has pages and is ok.
[[nodiscard]] memory_parts parts_of(const saved_profile& saved);

/// Requires  `saved` has pages and is ok; `named` is its profile.
[[nodiscard]] pinned_memory find_pinned(const saved_profile& saved, const named_profile& named);

}
