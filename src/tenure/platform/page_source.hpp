// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// page_source: the default block source, OS pages of the operating system.

#include <cstddef>

#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

enum class page_size : unsigned char {
    ordinary, ///< the system's default: 4 KiB on x86-64
    huge,     ///< requests huge pages: fewer faults and TLB misses, memory in steps of 2 MiB
};

/// Threads   any.
/// Cost      a system call each; plus a fault of 0.25 to 1.5 us for the first touch of each OS page.
class TENURE_API page_source final : public block_source {
public:
    constexpr explicit page_source(page_size pages = page_size::ordinary) noexcept : pages_(pages) {}

    /// The source that allocators use by default.
    [[nodiscard]] static page_source& process() noexcept;

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t alignment) noexcept override;
    bool shrink(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override;
    [[nodiscard]] sharing threads() const noexcept override { return sharing::any_thread; }
    [[nodiscard]] bool is_zeroed() const noexcept override { return true; }

private:
    page_size pages_;
};

}
