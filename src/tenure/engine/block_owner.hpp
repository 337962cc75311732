// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// To which part a block belongs that the heap is asked to free by mistake. The heap does not know the other parts:
/// they register a function.

#include <string_view>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Returns   the name of the part, empty if the block is none of its.
using name_owner_function = std::string_view (*)(const void* block) noexcept;

/// Call it once, when the library is loaded.
void set_name_owner(name_owner_function) noexcept;
[[nodiscard]] std::string_view owner_of_block(const void* block) noexcept;

}
