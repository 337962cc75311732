// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source over memory that you provide: a static array, a console's fixed budget, a shared mapping.

#include <cstddef>

#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

/// Allocates from the front of a buffer. Blocks released in reverse order are reused at once, down to the first gap
/// that an alignment left between them. The whole buffer is reused once every block is released. Use it for an
/// allocator that keeps what it acquires.
///
/// Threads   one at a time.
/// When full returns nullptr.
class TENURE_API static_buffer_source final : public block_source {
public:
    /// Requires  `buffer` outlives the source and every block acquired from it.
    static_buffer_source(void* buffer, std::size_t bytes) noexcept;

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    [[nodiscard]] bool extend(void* block, std::size_t old_bytes, std::size_t new_bytes) noexcept override;
    [[nodiscard]] sharing threads() const noexcept override { return sharing::one_thread; }
    [[nodiscard]] std::size_t max_bytes() const noexcept override { return capacity_bytes_; }

    [[nodiscard]] std::size_t used_bytes() const noexcept { return used_bytes_; }
    [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_bytes_; }

private:
    unsigned char* buffer_;
    std::size_t capacity_bytes_;
    std::size_t used_bytes_ = 0;
    std::size_t live_blocks_ = 0;
};

}
