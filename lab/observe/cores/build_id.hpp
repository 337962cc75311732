// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The build ID of an ELF file, from its own bytes or from memory that it is mapped to.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace tenure::lab {

/// Copies bytes at an offset of the file. Returns   false when they are not there.
using elf_reader = std::function<bool(std::uint64_t at, void* to, std::size_t count)>;

/// The bytes that a name or a description of a note occupies.
[[nodiscard]] constexpr std::uint64_t padded_note_bytes(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// In hex digits; empty when there is none, or when it cannot be read.
[[nodiscard]] std::string build_id_of(const elf_reader& read);

}
