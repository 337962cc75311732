// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source that fails from the n-th request on, so that tests can exercise every out-of-memory path.

#include <cstddef>

#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

/// Threads   as the source behind it.
class TENURE_API failing_source final : public block_source {
public:
    /// Forwards `allowed` requests, then fails until allow() is called. acquire, extend (to a larger
    /// size) and remap count as requests.
    failing_source(block_source& behind, std::size_t allowed) noexcept : behind_(behind), allowed_(allowed) {}

    void allow(std::size_t requests) noexcept { allowed_.store(requests); }
    [[nodiscard]] std::size_t refused() const noexcept { return refused_.load(); }

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override { behind_.release(block, bytes); }
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t alignment) noexcept override;
    bool shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override { return behind_.decommit(part, bytes); }
    [[nodiscard]] sharing threads() const noexcept override { return behind_.threads(); }
    [[nodiscard]] bool is_zeroed() const noexcept override { return behind_.is_zeroed(); }
    [[nodiscard]] std::size_t max_bytes() const noexcept override { return behind_.max_bytes(); }

private:
    [[nodiscard]] bool let_through() noexcept;

    block_source& behind_;
    // Counters, sequentially consistent, for tests: a compare-exchange lets one request through for each one allowed.
    detail::atomic<std::size_t> allowed_;
    detail::atomic<std::size_t> refused_{0};
};

}
