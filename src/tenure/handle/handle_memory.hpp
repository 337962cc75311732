// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory with a handle of the process's table: what buffers are made of, in C++, C and C#.
///
/// Memory from    the process heap, or a file.
/// Cost           an allocation and handle_table::add(); remove() gives the memory back.
/// Threads        any.
/// When full      the reason, and nothing has changed.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/status.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI {

/// How memory with a handle is to be.
struct held_options {
    std::size_t alignment = cache_line_bytes; ///< a power of two
    fill how = fill::zero;
    page_size pages = page_size::ordinary; ///< huge: asked for where there are 2 MiB or more, a hint
    /// Called in place of deallocate_held() when the handle is removed, and at last calls it: to destroy what is in
    /// there.
    handle_releaser releaser = nullptr;
    const char* kind =
        nullptr; ///< what listings call it, 128 bytes of it; kept by address. Null: the type that is made
};

/// Gives the memory of allocate_held() back that has a releaser of its own, with option buffer_fill and in checked
/// builds its first 64 MiB overwritten.
TENURE_API void deallocate_held(void* memory, std::size_t bytes) noexcept;

/// Memory of the process heap. Zero bytes count as one, and the handle says zero. The text of `kind` is kept by
/// address. Fails     out_of_memory, invalid_argument (the alignment).
[[nodiscard]] TENURE_API status allocate_held(std::size_t bytes, held_options options, handle& made) noexcept;

/// Memory of a file: see platform/file_map.hpp for `path`, null among others. `kind` is kept by address.
/// Fails     file_error, out_of_memory, invalid_argument (zero bytes). The file is then as it was, and not there when
/// it
///           was not; after file_error errno holds the system's reason.
[[nodiscard]] TENURE_API status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept;

namespace detail {

/// Whether the process's table has ever used the entry: what comes from another language may be any four numbers, and
/// the table reads the entry's word without a look at where that lies.
[[nodiscard]] TENURE_API bool is_of_used_entry(const handle& which) noexcept;

}

}
