// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The slow path on Windows. A library is relocated before it runs, and runs before the program. What a thread may hold
/// that calls is unlike elsewhere: the loader's lock, because libraries allocate when they are loaded. Nothing here
/// waits for that lock.

#include <tenure/dropin/detail/quick.hpp>

#include <cerrno>
#include <cstring>

#include <tenure/dropin/detail/reports.hpp>
#include <tenure/dropin/windows/detail/c_runtime.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

// errno of the drop-in's own runtime, which is one of the program's, too.
[[nodiscard]] void* allocate_as(std::size_t bytes, std::size_t alignment, detail::fill how,
                                detail::block_form form) noexcept {
    if constexpr (checks::caller) {
        void* const block = detail::process_allocate_checked(bytes, alignment, form);
        if (block != nullptr) [[likely]]
            return how == detail::fill::zero ? std::memset(block, 0, bytes) : block;
    }
    if (is_too_late()) return nullptr;
    const int saved = errno;
    void* const block = detail::process_allocate_slow(bytes, alignment, how, form, false);
    start_wanted_background(nullptr);
    serve_wanted_report();
    errno = saved;
    return block;
}

}

// A new thread waits for the loader's lock, and nobody for the thread.
void start_background_for(const void*) noexcept { detail::start_background(); }

void* allocate_slow(std::size_t bytes, std::size_t alignment, detail::block_form form) noexcept {
    return allocate_as(bytes, alignment, detail::fill::none, form);
}

void* allocate_zeroed_slow(std::size_t bytes, std::size_t alignment) noexcept {
    return allocate_as(bytes, alignment, detail::fill::zero, detail::block_form::c);
}

void deallocate_slow(void* block) noexcept {
    if (is_too_late()) return;
    const int saved = errno;
    detail::process_deallocate_slow(block, false);
    start_wanted_background(nullptr);
    serve_wanted_report();
    errno = saved;
}

void deallocate_slow_as(void* block, detail::block_form form, std::size_t bytes) noexcept {
    if (is_too_late()) return;
    const int saved = errno;
    if (!detail::process_deallocate_checked(block, form, bytes))
        detail::process_deallocate_as(block, form, bytes, false);
    start_wanted_background(nullptr);
    serve_wanted_report();
    errno = saved;
}

}
