// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source whose memory is a file's: more than the machine has, as slow as the disk where it does not fit.

#include <cstddef>
#include <cstdint>

#include <tenure/base/block_source.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {

/// The file is made, or emptied, and grows with each block; what is released becomes a hole in it where the file system
/// can. It is scratch space: the file says nothing of what is in it, and is removed at once from its folder, so that it
/// goes with the process.
///
/// The child of a fork() does not have the blocks: an access of its faults, and what stands on the source must not be
/// used there. A disk that is full is told at the first touch, by a fault (SIGBUS), and not by a refusal.
///
/// Threads   any.
/// Cost      system calls; a first touch is a fault, and what the machine has no memory for is written to the disk.
class TENURE_API file_source final : public block_source {
public:
    /// Requires  `path` is in a folder that may be written to. is_open() says whether it was; otherwise every block is
    ///           refused.
    explicit file_source(const char* path) noexcept;
    /// Requires  every block is released.
    ~file_source();

    [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }

    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override;
    void release(void* block, std::size_t bytes) noexcept override;
    bool decommit(void* part, std::size_t bytes) noexcept override;
    [[nodiscard]] sharing threads() const noexcept override { return sharing::any_thread; }
    [[nodiscard]] bool is_zeroed() const noexcept override { return true; }

private:
    int file_ = -1;
    platform::mutex mutex_;
    std::uint64_t end_ = 0; ///< of the file
};

}
