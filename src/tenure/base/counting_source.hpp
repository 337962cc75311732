// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source that forwards every call and counts it: for tests, and to measure what an allocator acquires.

#include <cstddef>

#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

/// Threads   as the source behind it; any thread may read the counts at any time.
class TENURE_API counting_source final : public block_source {
public:
    /// Requires  `behind` outlives this source.
    explicit counting_source(block_source& behind) noexcept : behind_(behind) {}

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t alignment) noexcept override;
    bool shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override;
    [[nodiscard]] sharing threads() const noexcept override { return behind_.threads(); }
    [[nodiscard]] bool is_zeroed() const noexcept override { return behind_.is_zeroed(); }
    [[nodiscard]] std::size_t max_bytes() const noexcept override { return behind_.max_bytes(); }

    [[nodiscard]] std::size_t requests() const noexcept { return requests_.load(); }
    [[nodiscard]] std::size_t live_blocks() const noexcept { return live_blocks_.load(); }
    [[nodiscard]] std::size_t live_bytes() const noexcept { return live_bytes_.load(); }
    [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_.load(); }
    [[nodiscard]] std::size_t decommitted_bytes() const noexcept { return decommitted_bytes_.load(); }

private:
    void grow_to(std::size_t bytes) noexcept;

    block_source& behind_;
    // Counters: sequentially consistent, though relaxed would do; a source is called rarely.
    detail::atomic<std::size_t> requests_{0};
    detail::atomic<std::size_t> live_blocks_{0};
    detail::atomic<std::size_t> live_bytes_{0};
    detail::atomic<std::size_t> peak_bytes_{0};
    detail::atomic<std::size_t> decommitted_bytes_{0};
};

}
