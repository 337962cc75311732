// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// use_limit: the limit of the bytes that a heap has in use, set while it runs (option heap_limit_bytes).

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Requests past the limit fail. What counts is what holds blocks: pages of small blocks, large blocks and huge blocks.
/// Free memory that was touched would come on top, so it is returned to the system as soon as the heap has touched as
/// much as the limit leaves, and at least an eighth of the limit, since the last time.
///
/// Threads   any. Threads that ask at the same moment may together exceed the limit by their requests.
class TENURE_API use_limit {
public:
    constexpr use_limit() noexcept = default;
    use_limit(const use_limit&) = delete;
    use_limit& operator=(const use_limit&) = delete;

    /// Zero: no limit.
    void set(std::size_t bytes) noexcept {
        allowance_.store(static_cast<std::int64_t>(bytes), memory_order::relaxed);
        bytes_.store(bytes != 0 ? bytes : none, memory_order::relaxed);
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(memory_order::relaxed); }
    [[nodiscard]] bool is_set() const noexcept { return bytes() != none; }

    [[nodiscard]] bool allows(std::size_t in_use, std::size_t more) const noexcept {
        const std::size_t most = bytes();
        return more <= most && in_use <= most - more;
    }
    void note_use(std::size_t bytes) noexcept {
        if (is_set()) allowance_.fetch_sub(static_cast<std::int64_t>(bytes), memory_order::relaxed);
    }
    /// Whether the caller must return free memory to the system now, and call start_again().
    [[nodiscard]] bool is_trim_due() const noexcept { return allowance_.load(memory_order::relaxed) < 0; }
    void start_again(std::size_t in_use) noexcept {
        const std::size_t left = max_of(bytes() - min_of(bytes(), in_use), bytes() / 8);
        allowance_.store(static_cast<std::int64_t>(left), memory_order::relaxed);
    }

    /// Keeps a copy of standard error for the report, before the program can open a file of its own in its place.
    static void keep_standard_error() noexcept;

private:
    static constexpr std::size_t none = SIZE_MAX;

    // Relaxed: two numbers that are compared with counters, by which nothing else is read.
    atomic<std::size_t> bytes_{none};
    atomic<std::int64_t> allowance_{0}; ///< what may be taken into use before free memory is returned
};

}
