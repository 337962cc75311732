// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which pages of a range are in memory: for whoever would fill or copy them, and must not touch the others.

#include <cstddef>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Calls `visit(context, part, bytes)` for every run of pages that are in memory, in the order of addresses; `part` and
/// `bytes` stay within the range. Where the system does not say, pages count as in memory. A page that is in swap is
/// not in memory and has contents all the same.
/// Cost      a system call per 2 MiB, and 512 bytes of stack.
TENURE_API void visit_resident(void* range, std::size_t bytes,
                               void (*visit)(void* context, void* part, std::size_t bytes), void* context) noexcept;

/// Calls `visit(void* part, std::size_t bytes)` for every such run.
template<class Visit>
void for_each_resident(void* range, std::size_t bytes, Visit&& visit) noexcept {
    using function = std::remove_reference_t<Visit>;
    visit_resident(
        range, bytes,
        [](void* to, void* part, std::size_t part_bytes) { (*static_cast<function*>(to))(part, part_bytes); }, &visit);
}

}
