// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds which OS pages of a range are in memory, for code that fills or copies them without touching the others.

#include <cstddef>
#include <type_traits>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Calls `visit(context, part, bytes)` for every run of OS pages that are in memory, in address order, within the
/// range. A swapped-out page is not in memory, although it has contents. If the system does not tell, all pages count.
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
