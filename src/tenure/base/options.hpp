// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Every setting that can change without a rebuild, in one table. `tenure options` prints it.
///
/// The value comes from the program if it set one, otherwise from the environment, otherwise from the built-in default.
/// The environment is read once, at the first query, and not in a set-user-ID program. Parts read their options at
/// first use, so set them when the program starts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI {

enum class option : std::uint8_t {
    temp_budget_bytes,
    temp_job_frames,
    temp_job_limit_bytes,
    passthrough,
    malloc_stats,
    malloc_stats_signal,
    heap_limit_bytes,
    heap_purge_delay_ms,
    heap_max_retained_bytes,
    heap_background,
    heap_guard_sample,
    heap_guard_bytes,
    heap_mitigations,
    affinity_block_bytes,
    affinity_alignment,
    affinity_by_size,
    affinity_size_required,
    affinity_huge_pages,
    handle_report,
    handle_stack_frames,
    buffer_fill,
    leak_check,
    report_copies,
    profile,
    profile_sample_bytes,
    profile_every_ms,
    profile_at_peak,
    profile_signal,
    profile_pages,
};
constexpr std::size_t option_count = 29;

/// Parts that can use the process's malloc. The value of option::passthrough is a set of them.
enum class part : std::uint8_t {
    arena = 1,
    temp = 2,
    temp_job = 4,
    pool = 8,
    small_object = 16,
    heap = 32,
    affinity = 64,
};
constexpr std::uint64_t all_parts = 127;

/// What checked builds and the hardened drop-in do for each block of a heap. The value of option::heap_mitigations is a
/// set of them, read when a thread first uses the heap.
enum class mitigation : std::uint16_t {
    double_free = 1, ///< the free exchanges the block's state atomically
    canary = 2,      ///< the free checks the bytes behind the block
    front = 4,       ///< the free checks the bytes in front of the block
    form = 8,        ///< the free checks that malloc, new and new[] match free, delete and delete[]
    size = 16,       ///< a sized delete checks the size
    fill = 32,       ///< the free fills the block, and the next allocation checks the fill
    quarantine = 64, ///< freed blocks are reused late
    shuffle = 128,   ///< addresses are unpredictable
    zero_size = 256, ///< the block of malloc(0) faults when it is accessed
    guards = 512,    ///< blocks past 256 KiB have guard pages, and rest without access when they are freed
    records = 1024,  ///< the heap's own records have guard pages
};
constexpr std::uint64_t all_mitigations = 2047;

enum class option_form : std::uint8_t {
    count,       ///< a whole number
    bytes,       ///< a whole number, with an optional suffix K, M or G (powers of 1024)
    parts,       ///< "all", "none", or names of parts separated by commas
    mitigations, ///< "all", "none", or names of mitigations separated by commas
    report,      ///< 0 or "none", 1 or "text", 2 or "json"
};

enum class option_origin : std::uint8_t { built_in, environment, program };

struct option_info {
    option id;
    option_form form;
    std::string_view name;
    std::string_view environment;
    std::uint64_t built_in;
    std::uint64_t lowest, highest; ///< valid range, inclusive
    std::string_view help;         ///< one sentence
};

/// The table, in the order of the enumeration.
TENURE_API std::span<const option_info, option_count> option_table() noexcept;

/// Cost      one load after the first call in the process.
/// Threads   any.
TENURE_API std::uint64_t option_value(option) noexcept;
TENURE_API option_origin option_source(option) noexcept;

/// Returns   whether the value is in the option's range; if not, nothing changes.
/// Threads   any; parts that already read the option keep the value they read.
TENURE_API bool set_option(option, std::uint64_t value) noexcept;

/// Parses a value from the environment or a command line. Returns false, and keeps `value`, if the text is not valid.
TENURE_API bool parse_option(const option_info&, std::string_view text, std::uint64_t& value) noexcept;

/// Whether this part allocates its blocks with malloc.
[[nodiscard]] inline bool passthrough_enabled(part which) noexcept {
    return (option_value(option::passthrough) & static_cast<std::uint64_t>(which)) != 0;
}

}
