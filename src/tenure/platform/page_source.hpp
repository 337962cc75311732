// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The block source below everything by default: pages of the operating system.

#include <cstddef>

#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

enum class page_size : unsigned char {
    ordinary, ///< what the system gives: 4 KiB on x86-64
    huge,     ///< asks for huge pages: fewer faults and translation misses, memory in steps of 2 MiB
};

/// Threads   any.
/// Cost      a system call each; the first touch of a page costs a fault of 0.25 to 1.5 us on top.
class TENURE_API page_source final : public block_source {
public:
    constexpr explicit page_source(page_size pages = page_size::ordinary) noexcept : pages_(pages) {}

    /// The one that allocators use when they are given none.
    [[nodiscard]] static page_source& process() noexcept;

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes,
                              std::size_t alignment) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override;
    [[nodiscard]] sharing threads() const noexcept override { return sharing::any_thread; }
    [[nodiscard]] bool is_zeroed() const noexcept override { return true; }

private:
    page_size pages_;
};

}
