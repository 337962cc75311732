// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of the records of pools, for debuggers: see base/debug_layout.hpp.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/debug_layout.hpp>

namespace tenure::inline TENURE_ABI::detail {

constexpr std::size_t pool_fact_count = 41;
using pool_layout_object = debug_layout::object<0, 0, pool_fact_count>;

}

extern "C" {
TENURE_DEBUG_API extern const tenure::detail::pool_layout_object tenure_debug_pool_layout;
/// Its `self`, as in heap/detail/debug_layout.hpp.
TENURE_LOCAL extern const tenure::detail::pool_layout_object tenure_debug_pool_layout_self;
}
