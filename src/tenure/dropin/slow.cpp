// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/quick.hpp>

#include <cerrno>

#include <tenure/dropin/early.hpp>
#include <tenure/platform/unrelocated.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

[[nodiscard]] void* take_as(std::size_t bytes, std::size_t alignment, detail::fill how) noexcept {
    if (!platform::is_relocated()) return take_early(bytes, alignment);
    int const saved = errno;
    void* const block = detail::process_allocate_slow(bytes, alignment, how);
    errno = block != nullptr ? saved : ENOMEM;
    return block;
}

}

void* take_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return take_as(bytes, alignment, detail::fill::none);
}

void* take_zeroed_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return take_as(bytes, alignment, detail::fill::zero);
}

void give_slow(void* block) noexcept {
    if (is_early(block) || !platform::is_relocated()) return;
    int const saved = errno;
    detail::process_deallocate_slow(block);
    errno = saved;
}

}
