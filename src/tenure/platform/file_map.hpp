// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that is a file's: it may be more than the machine has, and outlive the process where the file has a name.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A file's memory, until it is kept or undone.
class TENURE_API mapped_file {
public:
    /// Maps the first `bytes` of a file, shared with whoever else maps it. A file that is not there is made; one that
    /// is shorter becomes so long, with zeros; one that is longer stays so. Null for `path`: a file without a name in
    /// the folder that TMPDIR names, else in /var/tmp, which is a disk's where /tmp may be memory; it goes with the
    /// mapping.
    ///
    /// A disk that is full is told at the first touch, by a fault (SIGBUS), and not by a refusal.
    /// Requires  `bytes` is not zero; `path` stays until the end of this.
    mapped_file(const char* path, std::size_t bytes) noexcept;

    /// Undoes it all, unless it was kept: a file that was made is gone, one that was made longer is as it was. What
    /// another process has made of it meanwhile stays. errno stays what the system said.
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// Null when refused; why() says what stood in the way, file_error or out_of_memory (addresses), and errno holds
    /// the system's own reason.
    [[nodiscard]] void* memory() const noexcept { return memory_; }
    [[nodiscard]] status why() const noexcept { return why_; }

    /// It stays. unmap_file() takes it back.
    void keep() noexcept { is_kept_ = true; }

private:
    [[nodiscard]] bool open() noexcept;
    [[nodiscard]] bool make_room() noexcept;

    const char* path_;
    std::size_t bytes_;
    void* memory_ = nullptr;
    status why_ = status::file_error;
    int file_ = -1;
    std::uint64_t former_bytes_ = 0;
    bool is_new_ = false, is_longer_ = false, is_kept_ = false;
};

/// Takes back what was kept. What was written reaches the file in the system's own time.
TENURE_API void unmap_file(void* memory, std::size_t bytes) noexcept;

}
