// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory with a handle in the process's table. Buffers in C++, C and C# are made of it.
///
/// Memory from    the process heap, or a file.
/// Cost           an allocation and handle_table::add(); remove() frees the memory.
/// Threads        any.
/// When full      returns the reason and changes nothing.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI {

/// Options of allocate_held().
struct held_options {
    std::size_t alignment = cache_line_bytes; ///< a power of two
    fill how = fill::zero;
    page_size pages = page_size::ordinary; ///< huge: requested for 2 MiB or more; a hint
    /// Called instead of deallocate_held() when the handle is removed, to destroy the contents. It must call
    /// deallocate_held() last.
    handle_releaser releaser = nullptr;
    const char* kind =
        nullptr; ///< name in listings, which show up to 128 bytes; stored by address. nullptr: the type, or "memory"
};

/// Frees memory of allocate_held(), for releasers. With buffer_fill and in checked builds, overwrites its first 64 MiB.
TENURE_API void deallocate_held(void* memory, std::size_t bytes) noexcept;

/// Allocates from the process heap. Zero bytes count as one, and the handle says zero. The text of `kind` is stored by
/// address. Fails     out_of_memory, invalid_argument (the alignment).
[[nodiscard]] TENURE_API status allocate_held(std::size_t bytes, held_options options, handle& made) noexcept;

/// Maps a file: see platform/file_map.hpp for `path`, which may be nullptr. `kind` is stored by address.
/// Fails     file_error, out_of_memory, invalid_argument (zero bytes). An existing file is then unchanged, and a new
///           one is removed. After file_error, errno holds the system's reason.
[[nodiscard]] TENURE_API status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept;

namespace detail {

/// Whether the process's table has ever used the entry. Call it for handles from another language, which may be any
/// four numbers: the table reads the entry's word without checking that it exists.
[[nodiscard]] TENURE_API bool is_of_used_entry(const handle& which) noexcept;

}

}
