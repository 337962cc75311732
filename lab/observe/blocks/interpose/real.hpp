// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The real functions behind the ones that the library interposes: the next in the loader's order.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>

namespace tenure::lab::blocks {

enum class call : std::uint8_t {
    malloc,
    calloc,
    realloc,
    posix_memalign,
    aligned_alloc,
    memalign,
    valloc,
    pvalloc,
    free,
    free_sized,
    free_aligned_sized,
    malloc_usable_size,
    new_object,
    new_array,
    new_object_quiet,
    new_array_quiet,
    new_aligned,
    new_array_aligned,
    new_aligned_quiet,
    new_array_aligned_quiet,
    delete_object,
    delete_array,
    delete_sized,
    delete_array_sized,
    delete_aligned,
    delete_array_aligned,
    delete_sized_aligned,
    delete_array_sized_aligned,
    delete_quiet,
    delete_array_quiet,
    delete_aligned_quiet,
    delete_array_aligned_quiet,
};
constexpr std::size_t call_count = static_cast<std::size_t>(call::delete_array_aligned_quiet) + 1;

extern detail::atomic<void*> real_functions[call_count];
/// In place of a function that no library has.
extern const char no_function;

/// Looks it up. Returns   nullptr if no library has it, and while this thread is inside such a look-up, which may
/// allocate.
[[nodiscard]] void* find_real(call which) noexcept;
/// Looks all of them up. Later look-ups, inside a call of the program, would wait for the loader's lock and change what
/// dlerror() tells the program.
void find_all() noexcept;

template<class Function>
[[nodiscard]] inline Function* real(call which) noexcept {
    void* found = real_functions[static_cast<std::size_t>(which)].load(detail::memory_order::acquire);
    if (found == nullptr) [[unlikely]]
        found = find_real(which);
    return reinterpret_cast<Function*>(found == &no_function ? nullptr : found);
}

/// Memory for calls that come from inside a look-up. It is never freed. Returns   zeroed memory, or nullptr when there
/// is no more.
[[nodiscard]] void* take_early(std::size_t bytes) noexcept;
[[nodiscard]] bool is_early(const void* block) noexcept;
/// The size of a block of take_early().
[[nodiscard]] std::size_t early_bytes(const void* block) noexcept;

}
