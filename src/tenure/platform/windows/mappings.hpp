// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// What Linux describes in files of /proc, under names that no file of Windows has: the sections of the loaded modules
/// and the command line, in the same format.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

[[nodiscard]] bool is_made_file(const char* path) noexcept;

/// As read_in_parts().
[[nodiscard]] bool read_made_file(const char* path, char* buffer, std::size_t capacity,
                                  void (*visit)(void* context, std::string_view part) noexcept, void* context,
                                  std::size_t max_bytes) noexcept;

}
