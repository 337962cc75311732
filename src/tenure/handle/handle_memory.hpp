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

/// Memory of the process heap. Zero bytes count as one, and the handle says zero. The text of `kind` is kept by
/// address. Requires  `alignment` is a power of two. Fails     out_of_memory, invalid_argument (the alignment).
[[nodiscard]] TENURE_API status allocate_held(std::size_t bytes, std::size_t alignment, fill how, const char* kind,
                                              handle& made) noexcept;

/// Memory of a file: see platform/file_map.hpp for `path`, null among others.
/// Fails     file_error, out_of_memory, invalid_argument (zero bytes).
[[nodiscard]] TENURE_API status map_held(const char* path, std::size_t bytes, const char* kind, handle& made) noexcept;

}
