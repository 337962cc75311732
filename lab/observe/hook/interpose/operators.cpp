// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// operator new and delete in every form. Those of the C++ library call malloc, which the hook also sees; a program or
/// a malloc may bring its own. The functions have their linker names because the hook uses no C++ library that could
/// declare them.

#include "observe/hook/interpose/observed.hpp"

using namespace tenure::lab::hook;

namespace {

/// free(nullptr) and deleting a null pointer are calls too.
template<call Which, class... Arguments>
[[gnu::always_inline]] inline void observed_delete(const place& from, void* block, Arguments... arguments) {
    auto* const function = real<void(void*, Arguments...)>(Which);
    if (!is_active()) [[likely]]
        return function(block, arguments...);
    if (block != nullptr) {
        const noted_call<Which> note(from);
        return function(block, arguments...);
    }
    const std::uint64_t begin = ticks();
    function(block, arguments...);
    note_null_free(Which, from, begin, ticks());
}

}

extern "C" {

void* _Znwm(std::size_t bytes) {
    return observed_allocation<call::new_object, void*(std::size_t)>(here(), bytes, bytes);
}
void* _Znam(std::size_t bytes) {
    return observed_allocation<call::new_array, void*(std::size_t)>(here(), bytes, bytes);
}
void* _ZnwmRKSt9nothrow_t(std::size_t bytes, const void* nothrow) {
    return observed_allocation<call::new_object_quiet, void*(std::size_t, const void*)>(here(), bytes, bytes, nothrow);
}
void* _ZnamRKSt9nothrow_t(std::size_t bytes, const void* nothrow) {
    return observed_allocation<call::new_array_quiet, void*(std::size_t, const void*)>(here(), bytes, bytes, nothrow);
}
void* _ZnwmSt11align_val_t(std::size_t bytes, std::size_t alignment) {
    return observed_allocation<call::new_aligned, void*(std::size_t, std::size_t)>(here(), bytes, bytes, alignment);
}
void* _ZnamSt11align_val_t(std::size_t bytes, std::size_t alignment) {
    return observed_allocation<call::new_array_aligned, void*(std::size_t, std::size_t)>(here(), bytes, bytes,
                                                                                         alignment);
}
void* _ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment, const void* nothrow) {
    return observed_allocation<call::new_aligned_quiet, void*(std::size_t, std::size_t, const void*)>(
        here(), bytes, bytes, alignment, nothrow);
}
void* _ZnamSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment, const void* nothrow) {
    return observed_allocation<call::new_array_aligned_quiet, void*(std::size_t, std::size_t, const void*)>(
        here(), bytes, bytes, alignment, nothrow);
}

void _ZdlPv(void* block) { observed_delete<call::delete_object>(here(), block); }
void _ZdaPv(void* block) { observed_delete<call::delete_array>(here(), block); }
void _ZdlPvm(void* block, std::size_t bytes) { observed_delete<call::delete_sized>(here(), block, bytes); }
void _ZdaPvm(void* block, std::size_t bytes) { observed_delete<call::delete_array_sized>(here(), block, bytes); }
void _ZdlPvSt11align_val_t(void* block, std::size_t alignment) {
    observed_delete<call::delete_aligned>(here(), block, alignment);
}
void _ZdaPvSt11align_val_t(void* block, std::size_t alignment) {
    observed_delete<call::delete_array_aligned>(here(), block, alignment);
}
void _ZdlPvmSt11align_val_t(void* block, std::size_t bytes, std::size_t alignment) {
    observed_delete<call::delete_sized_aligned>(here(), block, bytes, alignment);
}
void _ZdaPvmSt11align_val_t(void* block, std::size_t bytes, std::size_t alignment) {
    observed_delete<call::delete_array_sized_aligned>(here(), block, bytes, alignment);
}
void _ZdlPvRKSt9nothrow_t(void* block, const void* nothrow) {
    observed_delete<call::delete_quiet>(here(), block, nothrow);
}
void _ZdaPvRKSt9nothrow_t(void* block, const void* nothrow) {
    observed_delete<call::delete_array_quiet>(here(), block, nothrow);
}
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* block, std::size_t alignment, const void* nothrow) {
    observed_delete<call::delete_aligned_quiet>(here(), block, alignment, nothrow);
}
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* block, std::size_t alignment, const void* nothrow) {
    observed_delete<call::delete_array_aligned_quiet>(here(), block, alignment, nothrow);
}
}
