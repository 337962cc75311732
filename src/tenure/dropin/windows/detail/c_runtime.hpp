// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// The C runtimes of a process, each with a heap of its own, and the functions that the drop-in has replaced in them.
///
/// A block that the process heap does not own goes to the runtime whose function was called with it: it was allocated
/// before the drop-in was loaded, or by the runtime for itself.

#include <array>
#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/dropin/detail/quick.hpp>

namespace tenure::inline TENURE_ABI::dropin {

/// Functions of a runtime, in the order of their names in c_runtime.cpp.
enum class crt : std::uint8_t {
    malloc,
    calloc,
    realloc,
    free,
    msize,
    expand,
    recalloc,
    malloc_base,
    calloc_base,
    realloc_base,
    free_base,
    msize_base,
    expand_base,
    recalloc_base,
    aligned_malloc,
    aligned_realloc,
    aligned_recalloc,
    aligned_free,
    aligned_msize,
    aligned_offset_malloc,
    aligned_offset_realloc,
    aligned_offset_recalloc,
    strdup,
    wcsdup,
    new_one,
    new_many,
    delete_one,
    delete_many,
    error_number,    ///< not replaced: the address of errno
    new_mode,        ///< not replaced: whether malloc calls the new handler
    call_new_handler ///< not replaced: calls it; zero: there is none
};
constexpr std::size_t crt_functions = static_cast<std::size_t>(crt::call_new_handler) + 1;

/// The runtimes' own functions, while they are loaded.
struct c_runtime {
    // Written before an import leads here. Relaxed: the pointee is code, and nothing else is read by it.
    std::array<detail::atomic<void*>, crt_functions> functions{};

    /// Returns   nullptr if the runtime does not have the function, or is not loaded.
    template<class Function>
    [[nodiscard]] Function* own(crt which) const noexcept {
        void* const found = functions[static_cast<std::size_t>(which)].load(detail::memory_order::relaxed);
        return reinterpret_cast<Function*>(found);
    }
    void set_error(int number) const noexcept;
    /// What a runtime does when it is out of memory: calls the new handler, if there is one and malloc is to call it.
    /// Returns   whether to try again; if not, errno is ENOMEM.
    [[nodiscard]] TENURE_COLD bool should_try_again(std::size_t bytes) const noexcept;
};

/// Whether the block may be one of the process heap. Accepts any pointer.
[[nodiscard]] TENURE_ALWAYS_INLINE bool is_ours(const void* block) noexcept {
    return detail::process_core().may_be_block(block);
}

/// Whether the process ends: threads were stopped wherever they were, and may hold locks of the heap. The system's heap
/// serves what is requested now; blocks of the process heap are not freed any more.
[[nodiscard]] bool is_too_late() noexcept;

/// Resizes a block of the process heap, as realloc does.
/// Requires  neither is zero.
[[nodiscard]] void* reallocate_ours(void* block, std::size_t bytes) noexcept;
/// Zeroes a block's bytes from `begin` on, so that _recalloc() finds zeros behind what was requested.
void clear_from(void* block, std::size_t begin) noexcept;

// Aligned blocks lie within a block of malloc, whose address stands in front of them, as the runtimes do it: so a
// runtime's own _aligned_free() finds it, too.
//
//   block of malloc | ... | its address | aligned block
[[nodiscard]] TENURE_ALWAYS_INLINE void*& malloc_block_of(void* aligned) noexcept {
    const std::uintptr_t in_front = align_down(address_of(aligned), sizeof(void*)) - sizeof(void*);
    return *static_cast<void**>(pointer_at(in_front));
}
struct aligned_request {
    std::size_t bytes, alignment, offset;
    /// Whether the runtimes accept it. Otherwise they set EINVAL.
    [[nodiscard]] bool is_valid() const noexcept {
        return is_power_of_two(alignment) && (offset == 0 || offset < bytes);
    }
};
/// Requires  the request is valid. Returns   nullptr when out of memory.
[[nodiscard]] void* allocate_aligned_inside(const aligned_request& wanted, detail::fill how) noexcept;
/// Requires  the block is ours, and the request is valid.
[[nodiscard]] void* reallocate_aligned_inside(void* aligned, const aligned_request& wanted, detail::fill how) noexcept;
/// Usable bytes of an aligned block. Requires  it is ours.
[[nodiscard]] std::size_t aligned_bytes(void* aligned) noexcept;

/// Replaces the functions of all runtimes.
void replace_c_runtimes() noexcept;

}
