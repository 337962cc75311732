// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Every form of operator new and delete, on the process heap. Part of the drop-in malloc, and of the library that a
/// program links to replace its operators.
///
/// Sized deletes ignore the size: a wrong one, for example of a class without a virtual destructor, would put the block
/// into the wrong size class. Checked builds report it, and a delete that does not match the form of the new.

#include <new>

#include <tenure/dropin/detail/advice.hpp>
#include <tenure/dropin/detail/out_of_memory.hpp>
#include <tenure/dropin/detail/quick.hpp>

namespace {

using namespace tenure;

// The standard requires that operator new(n) returns an address suitable for any object of n bytes, so 8 is enough for
// up to 8 bytes. Larger size classes are multiples of 16, so the fast path need not ask for more.
constexpr std::size_t plain_alignment = 8;

// The slow path may place a block elsewhere than in a size class, as close to a guard page as its alignment allows.
constexpr std::size_t alignment_for(std::size_t bytes) {
    return bytes <= plain_alignment ? plain_alignment : default_alignment;
}

using detail::block_form;
constexpr block_form one = block_form::scalar_new, many = block_form::array_new;

// The slow path is a tail call, so that the fast path needs no frame.
template<block_form form>
[[nodiscard]] TENURE_NOINLINE void* create_slow(std::size_t bytes, std::size_t alignment) {
    void* const block = dropin::allocate_slow(bytes, alignment, form);
    dropin::start_wanted_background(TENURE_RETURN_ADDRESS());
    return block != nullptr ? block : dropin::new_failed(bytes, alignment);
}
template<block_form form>
[[nodiscard]] TENURE_NOINLINE void* create_slow_quietly(std::size_t bytes, std::size_t alignment) noexcept {
    void* const block = dropin::allocate_slow(bytes, alignment, form);
    dropin::start_wanted_background(TENURE_RETURN_ADDRESS());
    return block != nullptr ? block : dropin::new_failed_nothrow(bytes, alignment);
}

// Only checked builds distinguish the two forms: in other builds they share one copy of the code.
template<block_form form>
constexpr block_form kept = checks::caller ? form : block_form::any;

template<block_form form>
[[nodiscard]] TENURE_ALWAYS_INLINE void* create(std::size_t bytes) {
    void* block; // assigned, or not used
    if (dropin::allocate_as_advised(block, bytes, alignment_for(bytes), detail::fill::none))
        return block != nullptr ? block : dropin::new_failed(bytes, alignment_for(bytes));
    return dropin::allocate_fast<plain_alignment>(block, bytes) ? block
                                                                : create_slow<kept<form>>(bytes, alignment_for(bytes));
}
template<block_form form>
[[nodiscard]] TENURE_ALWAYS_INLINE void* create_quietly(std::size_t bytes) noexcept {
    void* block; // assigned, or not used
    if (dropin::allocate_as_advised(block, bytes, alignment_for(bytes), detail::fill::none))
        return block != nullptr ? block : dropin::new_failed_nothrow(bytes, alignment_for(bytes));
    return dropin::allocate_fast<plain_alignment>(block, bytes)
               ? block
               : create_slow_quietly<kept<form>>(bytes, alignment_for(bytes));
}

template<block_form form>
[[nodiscard]] TENURE_ALWAYS_INLINE void* create(std::size_t bytes, std::align_val_t alignment) {
    void* block = nullptr;
    const auto wanted = static_cast<std::size_t>(alignment);
    if (dropin::allocate_as_advised(block, bytes, wanted, detail::fill::none))
        return block != nullptr ? block : dropin::new_failed(bytes, wanted);
    return dropin::allocate_aligned_fast(block, bytes, wanted) ? block : create_slow<kept<form>>(bytes, wanted);
}
template<block_form form>
[[nodiscard]] TENURE_ALWAYS_INLINE void* create_quietly(std::size_t bytes, std::align_val_t alignment) noexcept {
    void* block = nullptr;
    const auto wanted = static_cast<std::size_t>(alignment);
    if (dropin::allocate_as_advised(block, bytes, wanted, detail::fill::none))
        return block != nullptr ? block : dropin::new_failed_nothrow(bytes, wanted);
    return dropin::allocate_aligned_fast(block, bytes, wanted) ? block : create_slow_quietly<kept<form>>(bytes, wanted);
}

}

void* operator new(std::size_t bytes) { return create<one>(bytes); }
void* operator new[](std::size_t bytes) { return create<many>(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return create<one>(bytes, alignment); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return create<many>(bytes, alignment); }

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return create_quietly<one>(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return create_quietly<many>(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return create_quietly<one>(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return create_quietly<many>(bytes, alignment);
}

void operator delete(void* block) noexcept { dropin::deallocate<one>(block); }
void operator delete[](void* block) noexcept { dropin::deallocate<many>(block); }
void operator delete(void* block, std::size_t bytes) noexcept { dropin::deallocate<one>(block, bytes); }
void operator delete[](void* block, std::size_t bytes) noexcept { dropin::deallocate<many>(block, bytes); }
void operator delete(void* block, std::align_val_t) noexcept { dropin::deallocate<one>(block); }
void operator delete[](void* block, std::align_val_t) noexcept { dropin::deallocate<many>(block); }
void operator delete(void* block, std::size_t bytes, std::align_val_t) noexcept {
    dropin::deallocate<one>(block, bytes);
}
void operator delete[](void* block, std::size_t bytes, std::align_val_t) noexcept {
    dropin::deallocate<many>(block, bytes);
}
void operator delete(void* block, const std::nothrow_t&) noexcept { dropin::deallocate<one>(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { dropin::deallocate<many>(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { dropin::deallocate<one>(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
    dropin::deallocate<many>(block);
}
