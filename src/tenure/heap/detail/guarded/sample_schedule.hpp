// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// When the process heap samples an allocation for a guarded block.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Each thread counts down the bytes that it takes from the heap, and the request that passes zero is sampled. The start
// of a countdown is drawn from an exponential distribution, so that each byte has the same chance, however a program's
// requests repeat. A new thread may begin with a fresh countdown for the same reason. After Serebryany and others,
// "GWP-ASan: Sampling-Based Detection of Memory-Safety Bugs in Production" (2024), and tcmalloc's sampler.
//
// A rest after each sample bounds the cost: it is 400 times as long as a sample takes, by an estimate. It ends when
// both the time and the processor time of the process have passed: a process may get a small part of a processor.

/// Threads   any.
class sample_schedule {
public:
    /// Means below this are for tests: every request that reaches the heap is sampled, without a rest.
    static constexpr std::uint64_t least_mean_bytes = 4096;

    /// Draws a countdown for a mean of option::heap_guard_bytes, doubled for each eight blocks that are guarded
    /// already, so that blocks that live long do not soon take all places.
    /// Returns   0 if every request is to be sampled; `bytes_until_look` if none is.
    [[nodiscard]] static std::int64_t draw(std::size_t guarded_count) noexcept;
    /// While no block is sampled, threads look at the option again after so many bytes.
    static constexpr std::int64_t bytes_until_look = std::int64_t{1} << 20;
    [[nodiscard]] static bool is_on() noexcept;
    /// The countdown of caches that have no sampled blocks.
    static constexpr std::int64_t never = INT64_MAX;

    /// Whether the rest after the last sample is over.
    /// Cost      a few nanoseconds; a system call at most once in 4 ms.
    [[nodiscard]] bool is_rested() noexcept;
    /// Begins the rest after a sample of this many OS pages.
    void begin_rest(std::size_t pages) noexcept;

    /// A random number. Processes and calls draw different ones.
    [[nodiscard]] static std::uint64_t random() noexcept;

private:
    // Relaxed: written one by one, and a reader between two of them takes a sample too early or too late.
    atomic<std::uint64_t> rested_at_ns_{0};
    atomic<std::uint64_t> rest_began_processor_ns_{0};
    atomic<std::uint64_t> rest_ns_{0};
};

}
