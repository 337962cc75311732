// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/quick.hpp>

#include <cerrno>
#include <cstring>

#include <tenure/dropin/detail/advice.hpp>
#include <tenure/dropin/detail/early.hpp>
#include <tenure/dropin/detail/reports.hpp>
#include <tenure/dropin/detail/tagged.hpp>
#include <tenure/platform/symbol.hpp>
#include <tenure/platform/unrelocated.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

/// The short way, while a profile is recorded and nothing else is wanted of a slow call.
/// Returns   nullptr if more is to be done.
[[nodiscard]] TENURE_ALWAYS_INLINE void* allocate_counted(std::size_t bytes, std::size_t alignment,
                                                          detail::fill how) noexcept {
    detail::thread_cache* const cache = detail::process_cache();
    const bool is_short =
        cache != nullptr && cache->is_counting && !is_report_wanted() && !detail::is_background_wanted();
    return is_short ? detail::process_allocate_counted(*cache, bytes, alignment, how) : nullptr;
}

[[nodiscard]] TENURE_ALWAYS_INLINE void* allocate_as(std::size_t bytes, std::size_t alignment, detail::fill how,
                                                     detail::block_form form, const void* caller) noexcept {
    if constexpr (checks::caller) {
        void* const block = detail::process_allocate_checked(bytes, alignment, form);
        if (block != nullptr) [[likely]]
            return how == detail::fill::zero ? std::memset(block, 0, bytes) : block;
    }
    if (!checks::caller) {
        if (void* const block = allocate_counted(bytes, alignment, how); block != nullptr) return block;
    }
    if (!platform::is_relocated()) return allocate_early(bytes, alignment);
    const int saved = errno;
    void* const block = detail::process_allocate_slow(bytes, alignment, how, form, false);
    start_wanted_background(caller);
    serve_wanted_report();
    if constexpr (is_advised) look_for_sites_again();
    errno = block != nullptr ? saved : ENOMEM;
    return block;
}

}

TENURE_COLD void start_background_for(const void* caller) noexcept {
    if (!platform::may_be_system_code(caller)) detail::start_background();
}

void* allocate_slow(std::size_t bytes, std::size_t alignment, detail::block_form form) noexcept {
    return allocate_as(bytes, alignment, detail::fill::none, form, TENURE_RETURN_ADDRESS());
}

void* allocate_zeroed_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_as(bytes, alignment, detail::fill::zero, detail::block_form::c, TENURE_RETURN_ADDRESS());
}

void deallocate_slow(void* block) noexcept {
    if (is_early(block) || !platform::is_relocated()) return;
    const int saved = errno;
    detail::process_deallocate_slow(block, false);
    start_wanted_background(TENURE_RETURN_ADDRESS());
    serve_wanted_report();
    errno = saved;
}

void deallocate_slow_as(void* block, detail::block_form form, std::size_t bytes) noexcept {
    if (detail::process_deallocate_checked(block, form, bytes)) [[likely]] {
        start_wanted_background(TENURE_RETURN_ADDRESS());
        return;
    }
    if (is_early(block) || !platform::is_relocated()) return;
    const int saved = errno;
    detail::process_deallocate_as(block, form, bytes, false);
    start_wanted_background(TENURE_RETURN_ADDRESS());
    serve_wanted_report();
    errno = saved;
}

void* allocate_tagged(std::uint16_t tag, std::size_t bytes, std::size_t alignment, detail::fill how,
                      const void* caller) noexcept {
    if (!platform::is_relocated()) return allocate_early(bytes, alignment);
    const int saved = errno;
    void* const block = detail::process_allocate_tagged(tag, bytes, alignment, how);
    serve_wanted_report();
    start_wanted_background(caller);
    errno = block != nullptr ? saved : ENOMEM;
    return block;
}

void* reallocate_tagged(std::uint16_t tag, void* block, std::size_t bytes, const void* caller) noexcept {
    const int saved = errno;
    void* const moved = detail::process_reallocate_tagged(tag, block, bytes);
    start_wanted_background(caller);
    errno = moved != nullptr ? saved : ENOMEM;
    return moved;
}

}
