// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The layout of the heap's records, for debuggers: see base/debug_layout.hpp.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/base/debug_layout.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>

namespace tenure::inline TENURE_ABI::detail {

constexpr std::size_t heap_root_count = 6, heap_fact_count = 186;
using heap_layout_object = debug_layout::object<heap_root_count, small_class_count, heap_fact_count>;

}

extern "C" {
TENURE_DEBUG_API extern const tenure::detail::heap_layout_object tenure_debug_layout;
/// Its `self`: a name of the same object that no other copy of the library in the process can replace.
TENURE_LOCAL extern const tenure::detail::heap_layout_object tenure_debug_layout_self;
}
