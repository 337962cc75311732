// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// File-backed memory. It may exceed the machine's memory, and outlives the process if the file has a name.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A file mapping that the destructor undoes unless keep() was called.
class TENURE_API mapped_file {
public:
    /// Maps the first `bytes` of a file, shared with every other mapping of it. Creates a missing file, and extends a
    /// shorter one with zeros; a longer file keeps its size. A `path` of nullptr maps an unnamed file in the folder
    /// that TMPDIR names, otherwise in /var/tmp (usually on disk, while /tmp may be in memory); that file disappears
    /// with the mapping.
    ///
    /// A full disk is not detected here: the first touch faults (SIGBUS).
    /// Requires  `bytes` is not zero; `path` stays valid for the lifetime of this object.
    mapped_file(const char* path, std::size_t bytes) noexcept;

    /// Undoes everything unless keep() was called: removes a file that it created, and restores the size of one that it
    /// extended. Changes by other processes stay. Preserves errno.
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// nullptr on failure. why() then says whether the cause was file_error or out_of_memory (addresses), and errno
    /// holds the system's reason.
    [[nodiscard]] void* memory() const noexcept { return memory_; }
    [[nodiscard]] status why() const noexcept { return why_; }

    /// Keeps the mapping. Release it with unmap_file().
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

/// Unmaps a kept mapping. The system writes modified pages to the file in its own time.
TENURE_API void unmap_file(void* memory, std::size_t bytes) noexcept;

}
