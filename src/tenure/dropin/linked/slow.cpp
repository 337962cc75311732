// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The slow path of operators that are linked into a program. The library that they call is relocated, and failure is
// reported by an exception.

#include <tenure/dropin/detail/quick.hpp>

#include <cerrno>

#include <tenure/engine/leak_check.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {
TENURE_AT_LOAD(serve_operators) { detail::serve_foreign_blocks(); }
}

void* allocate_slow(std::size_t bytes, std::size_t alignment, detail::block_form form) noexcept {
    if constexpr (checks::caller) {
        void* const block = detail::process_allocate_checked(bytes, alignment, form);
        if (block != nullptr) [[likely]]
            return block;
    }
    return detail::process_allocate_slow(bytes, alignment, detail::fill::none, form);
}

// The C library does not call the operators of a program.
void start_background_for(const void*) noexcept { detail::start_background(); }

void deallocate_slow(void* block) noexcept {
    const int saved = errno;
    detail::process_deallocate_slow(block);
    errno = saved;
}

void deallocate_slow_as(void* block, detail::block_form form, std::size_t bytes) noexcept {
    if (detail::process_deallocate_checked(block, form, bytes)) return;
    const int saved = errno;
    detail::process_deallocate_as(block, form, bytes);
    errno = saved;
}

}
