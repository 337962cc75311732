// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The line of a pool in the report of what is still held at the end of the program.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/engine/leak_check.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// `part` is "pool of "; `type` is nullptr for blocks without a type.
void add_pool(held_list& to, std::string_view part, std::size_t block_bytes, const char* type,
              std::size_t count) noexcept;

}
