// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/quick.hpp>

#include <cerrno>

#include <tenure/dropin/detail/early.hpp>
#include <tenure/platform/unrelocated.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

[[nodiscard]] void* allocate_as(std::size_t bytes, std::size_t alignment, detail::fill how) noexcept {
    if (!platform::is_relocated()) return allocate_early(bytes, alignment);
    const int saved = errno;
    void* const block = detail::process_allocate_slow(bytes, alignment, how);
    errno = block != nullptr ? saved : ENOMEM;
    return block;
}

}

void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_as(bytes, alignment, detail::fill::none);
}

void* allocate_zeroed_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_as(bytes, alignment, detail::fill::zero);
}

void deallocate_slow(void* block) noexcept {
    if (is_early(block) || !platform::is_relocated()) return;
    const int saved = errno;
    detail::process_deallocate_slow(block);
    errno = saved;
}

}
