// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Writes what the OS pages of a malloc that is not ours are used for, as far as the addresses of its blocks say.

#include <string_view>

#include <tenure/heap/detail/profile/section_writer.hpp>

#include "observe/blocks/record/block_map.hpp"

namespace tenure::lab::blocks {

/// The resident pages of the process's anonymous mappings that have blocks, or have had some. `malloc_file`: the file
/// that this malloc is in.
///
/// Cost      a system call for each 2 MiB of mappings that are in a leaf of the map.
/// Threads   one at a time.
void write_pages(const block_map& map, std::string_view malloc_file, detail::section_writer& to) noexcept;

}
