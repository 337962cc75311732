// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A block source backed by a file: larger than the machine's memory, and as slow as the disk once it does not fit.

#include <cstddef>
#include <cstdint>

#include <tenure/base/block_source.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI {

/// Creates or empties the file and extends it with each block. A released block becomes a hole in the file if the file
/// system supports that. The file is scratch space: its name is removed from the folder at once, so it disappears with
/// the process.
///
/// The child of a fork does not get the blocks: an access there faults, so the child must not use allocators on this
/// source. acquire() does not detect a full disk: the first touch faults (SIGBUS).
///
/// Threads   any.
/// Cost      system calls; a first touch is a fault, and pages that exceed the machine's memory are written to disk.
class TENURE_API file_source final : public block_source {
public:
    /// Requires  the folder of `path` is writable. If the file cannot be opened (is_open() is false), acquire() fails.
    explicit file_source(const char* path) noexcept;
    /// Requires  every block has been released.
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
