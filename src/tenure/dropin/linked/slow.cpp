// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The slow path of operators that are linked into a program. The library that they call is relocated, and failure is
// reported by an exception.

#include <tenure/dropin/detail/quick.hpp>

#include <cerrno>

namespace tenure::inline TENURE_ABI::dropin {

void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return detail::process_allocate_slow(bytes, alignment, detail::fill::none);
}

void deallocate_slow(void* block) noexcept {
    const int saved = errno;
    detail::process_deallocate_slow(block);
    errno = saved;
}

}
