// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A profile of the process heap: which call stacks hold its memory, and how much each has allocated.
///
/// Use it for     finding who holds memory, in production, with `tenure profile`; and which blocks keep memory from
///                going back to the system, with `tenure pins`. Every program with the library, and every program under
///                the drop-in malloc, can be started with the option profile (TENURE_PROFILE=1), which saves a file
///                when the program ends.
/// What it knows  blocks of the process heap: what malloc, new and heap::process() allocate. Memory that pools, arenas
///                and Temp take from the system is not in it.
/// What it says   estimates. One byte in `mean_bytes` is chosen, and its block recorded with its stack. A stack with B
///                live bytes in small blocks has about B / mean_bytes samples, and the standard error of its estimate
///                is about B / sqrt(B / mean_bytes): 9 % for 64 MiB at the default of 512 KiB. The file has the error
///                of each estimate, and the heap's exact counts by size class when the profile began and when it was
///                saved: `tenure profile` corrects the estimates of what is live by them.
/// Cost           Without a profile: nothing, the inline paths are the same. With one: allocations and frees stay in
///                line and pass through a second list, 1 to 2 ns; a recorded block costs microseconds for its stack,
///                and the frees of other blocks in its page are slow calls, as is every reallocation. In checked builds
///                every call is a slow one.
/// Limits         A thread that is waiting or computing counts from its next slow call on. 64 frames of a stack.
/// Threads        any.
/// Example        examples/heap_profile.cpp

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI {

/// What a saved profile contains.
enum class profile_contents : std::uint8_t {
    stacks,           ///< who holds memory and has allocated it
    stacks_and_pages, ///< also what the heap's memory is used for, for `tenure pins`: 24 bytes for every 4 KiB at most.
                      ///< Not after stop(), because the recorded blocks are then those of that moment
};

class heap_profile {
public:
    /// Begins a profile and forgets the last one. Blocks that are live already are not in it.
    /// `mean_bytes`: from 1 to 2^30; zero: option profile_sample_bytes. The smaller, the more precise and the slower.
    /// Returns   already_started; unsupported where the heap's blocks come from the process's malloc;
    ///           invalid_argument.
    /// Cost      O(pages of the heap).
    TENURE_API static status start(std::uint64_t mean_bytes = 0) noexcept;
    /// Ends it. What it has recorded can be saved until the next start().
    /// Returns   not_started if none is being recorded.
    TENURE_API static status stop() noexcept;
    [[nodiscard]] TENURE_API static bool is_running() noexcept;
    /// The blocks in use that it has recorded: zero before the first start. Cost  a load.
    [[nodiscard]] TENURE_API static std::size_t sample_count() noexcept;

    /// Writes the profile to a file that `tenure profile` reads: it appears under its name when it is complete.
    /// Allocates nothing. Recorded calls of other threads wait meanwhile; with pages, those for large blocks, too.
    /// Cost      milliseconds; with pages O(memory of the process), about 0.1 s for a GiB. A slow disk makes both
    /// longer. Returns   not_started if there was no profile since the process began; file_error.
    TENURE_API static status save(std::string_view path, profile_contents what = profile_contents::stacks) noexcept;
};

namespace detail {

/// When files are written without a call of the program: option profile.
struct heap_profile_events {
    /// Starts a profile if the options say so. Called once, when the process heap begins.
    static void set_up() noexcept;
    /// Saves `DIRECTORY/PROGRAM.PROCESS.NUMBER.heapprofile`; at the end and at a peak, `exit` or `peak` is the number.
    /// With pages if option profile_pages says so.
    TENURE_API static void save_now(profile_format::occasion why) noexcept;
    /// The same with `what`, whatever the options say.
    TENURE_API static void save_now(profile_format::occasion why, profile_contents what) noexcept;
    static void save_if_due(std::uint64_t now_ms) noexcept;
    /// For the background thread, which saves what no recorded allocation does. Whether files are saved at intervals.
    [[nodiscard]] static bool has_intervals() noexcept;
    /// Saves the file of an interval that is over, if a recorded block was allocated or freed since the last one.
    /// Returns   milliseconds until the interval ends, or UINT64_MAX if it is over.
    static std::uint64_t end_interval(std::uint64_t now_ms) noexcept;
    /// Whether the calling thread, which a signal handler interrupted, may call save_now().
    [[nodiscard]] TENURE_API static bool may_save() noexcept;
};

}

}
