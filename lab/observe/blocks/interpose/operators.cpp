// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// operator new and delete in every form. Those of the C++ library call malloc; a malloc may bring its own, which do
/// not. Where no library that every other one sees has them, as under a plug-in with a C++ library of its own, malloc
/// serves them, as the C++ library's would. The functions have their linker names because the library uses no C++
/// library that could declare them.

#include <stdlib.h>

#include <cstddef>

#include <tenure/base/report.hpp>

#include "observe/blocks/interpose/real.hpp"
#include "observe/blocks/interpose/recorded.hpp"

using namespace tenure::lab::blocks;

namespace {

[[nodiscard]] void* served_by_malloc(std::size_t bytes, const void*) noexcept { return malloc(bytes); }
[[nodiscard]] void* served_by_malloc(std::size_t bytes, std::size_t alignment, const void*) noexcept {
    void* block = nullptr;
    return posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) == 0 ? block : nullptr;
}

[[nodiscard]] void* never_null(void* block) noexcept {
    if (block != nullptr) return block;
    tenure::report(tenure::report_kind::misuse, "operator new: out of memory, and no C++ library to throw bad_alloc.");
    abort();
}
[[nodiscard]] void* served_by_malloc(std::size_t bytes) noexcept {
    return never_null(served_by_malloc(bytes, nullptr));
}
[[nodiscard]] void* served_by_malloc(std::size_t bytes, std::size_t alignment) noexcept {
    return never_null(served_by_malloc(bytes, alignment, nullptr));
}

[[nodiscard]] constexpr request asked_of(std::size_t bytes) noexcept { return {bytes, family::operator_new}; }
[[nodiscard]] constexpr request asked_of(std::size_t bytes, const void*) noexcept { return asked_of(bytes); }
[[nodiscard]] constexpr request asked_of(std::size_t bytes, std::size_t alignment) noexcept {
    return aligned_request(bytes, alignment, family::aligned_new);
}
[[nodiscard]] constexpr request asked_of(std::size_t bytes, std::size_t alignment, const void*) noexcept {
    return asked_of(bytes, alignment);
}

// Exceptions pass through: nothing has to be undone.
template<call Which, class... Others>
[[nodiscard]] void* noted_new(std::size_t bytes, Others... others) {
    auto* const function = real<void*(std::size_t, Others...)>(Which);
    begin_new();
    void* const block = function != nullptr ? function(bytes, others...) : served_by_malloc(bytes, others...);
    note_block(block, asked_of(bytes, others...));
    return block;
}

template<call Which, class... Others>
void noted_delete(void* block, Others... others) {
    if (block == nullptr) return;
    auto* const function = real<void(void*, Others...)>(Which);
    if (function == nullptr) return free(block);
    const std::size_t before = forget_block(block);
    function(block, others...);
    note_freed(block, before);
}

}

extern "C" {

void* _Znwm(std::size_t bytes) { return noted_new<call::new_object>(bytes); }
void* _Znam(std::size_t bytes) { return noted_new<call::new_array>(bytes); }
void* _ZnwmRKSt9nothrow_t(std::size_t bytes, const void* quiet) {
    return noted_new<call::new_object_quiet>(bytes, quiet);
}
void* _ZnamRKSt9nothrow_t(std::size_t bytes, const void* quiet) {
    return noted_new<call::new_array_quiet>(bytes, quiet);
}
void* _ZnwmSt11align_val_t(std::size_t bytes, std::size_t alignment) {
    return noted_new<call::new_aligned>(bytes, alignment);
}
void* _ZnamSt11align_val_t(std::size_t bytes, std::size_t alignment) {
    return noted_new<call::new_array_aligned>(bytes, alignment);
}
void* _ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment, const void* quiet) {
    return noted_new<call::new_aligned_quiet>(bytes, alignment, quiet);
}
void* _ZnamSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment, const void* quiet) {
    return noted_new<call::new_array_aligned_quiet>(bytes, alignment, quiet);
}

void _ZdlPv(void* block) { noted_delete<call::delete_object>(block); }
void _ZdaPv(void* block) { noted_delete<call::delete_array>(block); }
void _ZdlPvm(void* block, std::size_t bytes) { noted_delete<call::delete_sized>(block, bytes); }
void _ZdaPvm(void* block, std::size_t bytes) { noted_delete<call::delete_array_sized>(block, bytes); }
void _ZdlPvSt11align_val_t(void* block, std::size_t alignment) { noted_delete<call::delete_aligned>(block, alignment); }
void _ZdaPvSt11align_val_t(void* block, std::size_t alignment) {
    noted_delete<call::delete_array_aligned>(block, alignment);
}
void _ZdlPvmSt11align_val_t(void* block, std::size_t bytes, std::size_t alignment) {
    noted_delete<call::delete_sized_aligned>(block, bytes, alignment);
}
void _ZdaPvmSt11align_val_t(void* block, std::size_t bytes, std::size_t alignment) {
    noted_delete<call::delete_array_sized_aligned>(block, bytes, alignment);
}
void _ZdlPvRKSt9nothrow_t(void* block, const void* quiet) { noted_delete<call::delete_quiet>(block, quiet); }
void _ZdaPvRKSt9nothrow_t(void* block, const void* quiet) { noted_delete<call::delete_array_quiet>(block, quiet); }
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* block, std::size_t alignment, const void* quiet) {
    noted_delete<call::delete_aligned_quiet>(block, alignment, quiet);
}
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* block, std::size_t alignment, const void* quiet) {
    noted_delete<call::delete_array_aligned_quiet>(block, alignment, quiet);
}
}
