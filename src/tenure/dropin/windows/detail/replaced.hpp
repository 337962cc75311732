// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// What modules call in place of a C runtime's functions: the semantics of Microsoft's documentation, over the process
/// heap. Each runtime has functions of its own, which know to whom a foreign block goes and whose errno is set.

#include <cerrno>
#include <cstring>
#include <cwchar>

#include <tenure/base/compiler.hpp>
#include <tenure/dropin/windows/detail/c_runtime.hpp>

namespace tenure::inline TENURE_ABI::dropin {

template<c_runtime& runtime>
struct replaced {
    using form = detail::block_form;

    /// Out of memory, or too late: then the runtime's own function, over the system's heap, is called.
    template<class Allocate>
    [[nodiscard]] static TENURE_COLD void* try_again(std::size_t bytes, const Allocate& again) noexcept {
        while (!is_too_late() && runtime.should_try_again(bytes)) {
            if (void* const block = again(); block != nullptr) return block;
        }
        return nullptr;
    }

    static void* malloc(std::size_t bytes) noexcept {
        void* const block = allocate<default_alignment>(bytes);
        if (block != nullptr) [[likely]]
            return block;
        if (is_too_late()) return runtime.template own<void*(std::size_t)>(crt::malloc)(bytes);
        return try_again(bytes, [=] { return allocate<default_alignment>(bytes); });
    }

    [[nodiscard]] static void* zeroed(std::size_t bytes) noexcept {
        void* const block = allocate_zeroed_slow(bytes, default_alignment);
        if (block != nullptr) clear_from(block, bytes);
        return block;
    }
    static void* calloc(std::size_t count, std::size_t bytes) noexcept {
        std::size_t whole = 0;
        if (!multiply(count, bytes, whole)) return nullptr;
        void* block = nullptr;
        if (allocate_fast<default_alignment>(block, whole)) [[likely]] {
            std::memset(block, 0, whole);
            clear_from(block, whole);
            return block;
        }
        block = zeroed(whole);
        if (block != nullptr) return block;
        if (is_too_late()) return runtime.template own<void*(std::size_t, std::size_t)>(crt::calloc)(1, whole);
        return try_again(whole, [=] { return zeroed(whole); });
    }

    static void free(void* block) noexcept {
        if (block == nullptr) return;
        if (is_ours(block)) [[likely]]
            return deallocate(block);
        if (auto* const own = runtime.template own<void(void*)>(crt::free)) own(block);
    }

    static void* realloc(void* block, std::size_t bytes) noexcept {
        if (block == nullptr) return malloc(bytes);
        // A foreign block stays where it is: its size is known to its runtime alone.
        if (!is_ours(block)) return runtime.template own<void*(void*, std::size_t)>(crt::realloc)(block, bytes);
        if (bytes == 0) {
            deallocate(block);
            return nullptr;
        }
        void* const moved = reallocate_ours(block, bytes);
        if (moved != nullptr) [[likely]]
            return moved;
        if (is_too_late()) return moved_to_system(block, bytes);
        return try_again(bytes, [=] { return reallocate_ours(block, bytes); });
    }

    static void* recalloc(void* block, std::size_t count, std::size_t bytes) noexcept {
        if (block == nullptr) return calloc(count, bytes);
        if (!is_ours(block))
            return runtime.template own<void*(void*, std::size_t, std::size_t)>(crt::recalloc)(block, count, bytes);
        std::size_t whole = 0;
        if (!multiply(count, bytes, whole)) return nullptr;
        const std::size_t before = heap::process().usable_size(block);
        void* const moved = realloc(block, whole);
        if (moved != nullptr && whole > before) {
            std::memset(static_cast<char*>(moved) + before, 0, whole - before);
            if (is_ours(moved)) clear_from(moved, whole);
        }
        return moved;
    }

    static std::size_t msize(void* block) noexcept {
        if (block == nullptr) return refuse_size();
        if (is_ours(block)) return heap::process().usable_size(block);
        return runtime.template own<std::size_t(void*)>(crt::msize)(block);
    }

    static void* expand(void* block, std::size_t bytes) noexcept {
        if (block == nullptr) return refuse(EINVAL);
        if (!is_ours(block)) return runtime.template own<void*(void*, std::size_t)>(crt::expand)(block, bytes);
        const bool fits = bytes <= heap::process().usable_size(block);
        return fits || (!is_too_late() && heap::process().resize(block, bytes)) ? block : refuse(ENOMEM);
    }

    static void* aligned_offset_malloc(std::size_t bytes, std::size_t alignment, std::size_t offset) noexcept {
        return allocate_aligned({bytes, alignment, offset}, detail::fill::none);
    }
    static void* aligned_malloc(std::size_t bytes, std::size_t alignment) noexcept {
        return allocate_aligned({bytes, alignment, 0}, detail::fill::none);
    }

    static void aligned_free(void* aligned) noexcept {
        if (aligned == nullptr) return;
        if (void* const block = malloc_block_of(aligned); is_ours(block)) return deallocate(block);
        if (auto* const own = runtime.template own<void(void*)>(crt::aligned_free)) own(aligned);
    }

    static void* aligned_offset_realloc(void* aligned, std::size_t bytes, std::size_t alignment,
                                        std::size_t offset) noexcept {
        if (aligned != nullptr && !is_ours(malloc_block_of(aligned))) {
            using own_function = void*(void*, std::size_t, std::size_t, std::size_t);
            return runtime.template own<own_function>(crt::aligned_offset_realloc)(aligned, bytes, alignment, offset);
        }
        return reallocate_aligned(aligned, {bytes, alignment, offset}, detail::fill::none);
    }
    static void* aligned_realloc(void* aligned, std::size_t bytes, std::size_t alignment) noexcept {
        return aligned_offset_realloc(aligned, bytes, alignment, 0);
    }

    static void* aligned_offset_recalloc(void* aligned, std::size_t count, std::size_t bytes, std::size_t alignment,
                                         std::size_t offset) noexcept {
        if (aligned != nullptr && !is_ours(malloc_block_of(aligned))) {
            using own_function = void*(void*, std::size_t, std::size_t, std::size_t, std::size_t);
            auto* const own = runtime.template own<own_function>(crt::aligned_offset_recalloc);
            return own(aligned, count, bytes, alignment, offset);
        }
        std::size_t whole = 0;
        if (!multiply(count, bytes, whole)) return nullptr;
        return reallocate_aligned(aligned, {whole, alignment, offset}, detail::fill::zero);
    }
    static void* aligned_recalloc(void* aligned, std::size_t count, std::size_t bytes, std::size_t alignment) noexcept {
        return aligned_offset_recalloc(aligned, count, bytes, alignment, 0);
    }

    static std::size_t aligned_msize(void* aligned, std::size_t alignment, std::size_t offset) noexcept {
        if (aligned == nullptr) return refuse_size();
        if (is_ours(malloc_block_of(aligned))) return aligned_bytes(aligned);
        using own_function = std::size_t(void*, std::size_t, std::size_t);
        return runtime.template own<own_function>(crt::aligned_msize)(aligned, alignment, offset);
    }

    static char* strdup(const char* text) noexcept {
        if (text == nullptr) return nullptr;
        const std::size_t bytes = std::strlen(text) + 1;
        void* const copy = malloc(bytes);
        return copy != nullptr ? static_cast<char*>(std::memcpy(copy, text, bytes)) : nullptr;
    }
    static wchar_t* wcsdup(const wchar_t* text) noexcept {
        if (text == nullptr) return nullptr;
        const std::size_t bytes = (std::wcslen(text) + 1) * sizeof(wchar_t);
        void* const copy = malloc(bytes);
        return copy != nullptr ? static_cast<wchar_t*>(std::memcpy(copy, text, bytes)) : nullptr;
    }

    /// Operators that a runtime exports. The one of libstdc++ or libc++ calls malloc, which is replaced.
    template<form kind, crt own_operator>
    static void* create(std::size_t bytes) {
        void* block = nullptr;
        if (allocate_fast<default_alignment>(block, bytes)) [[likely]]
            return block;
        block = allocate_slow(bytes, default_alignment, kind);
        if (block != nullptr) return block;
        auto* const own = runtime.template own<void*(std::size_t)>(own_operator);
        if (is_too_late()) return own(bytes);
        auto* const call_handler = runtime.template own<int(std::size_t)>(crt::call_new_handler);
        while (call_handler != nullptr && call_handler(bytes) != 0) {
            block = allocate_slow(bytes, default_alignment, kind);
            if (block != nullptr) return block;
        }
        return own(max_object_bytes); // throws the runtime's own std::bad_alloc
    }
    template<form kind, crt own_operator>
    static void destroy(void* block) noexcept {
        if (block == nullptr) return;
        if (is_ours(block)) [[likely]]
            return deallocate<kind>(block);
        if (auto* const own = runtime.template own<void(void*)>(own_operator)) own(block);
    }

private:
    [[nodiscard]] static void* refuse(int error) noexcept {
        runtime.set_error(error);
        return nullptr;
    }
    [[nodiscard]] static std::size_t refuse_size() noexcept {
        runtime.set_error(EINVAL);
        return SIZE_MAX;
    }
    [[nodiscard]] static bool multiply(std::size_t count, std::size_t bytes, std::size_t& product) noexcept {
        if (!detail::multiply_overflows(count, bytes, product)) [[likely]]
            return true;
        runtime.set_error(ENOMEM);
        return false;
    }
    /// When the process ends: the heap's block is left as it is.
    [[nodiscard]] static void* moved_to_system(void* block, std::size_t bytes) noexcept {
        void* const moved = runtime.template own<void*(std::size_t)>(crt::malloc)(bytes);
        if (moved != nullptr) std::memcpy(moved, block, heap::process().usable_size(block)); // it was too small
        return moved;
    }
    [[nodiscard]] static void* allocate_aligned(const aligned_request& wanted, detail::fill how) noexcept {
        if (!wanted.is_valid()) return refuse(EINVAL);
        void* const block = allocate_aligned_inside(wanted, how);
        if (block != nullptr) return block;
        return try_again(wanted.bytes, [&] { return allocate_aligned_inside(wanted, how); });
    }
    [[nodiscard]] static void* reallocate_aligned(void* aligned, const aligned_request& wanted,
                                                  detail::fill how) noexcept {
        if (aligned == nullptr) return allocate_aligned(wanted, how);
        if (wanted.bytes == 0) {
            aligned_free(aligned);
            return nullptr;
        }
        if (!wanted.is_valid()) return refuse(EINVAL);
        void* const moved = reallocate_aligned_inside(aligned, wanted, how);
        if (moved != nullptr) return moved;
        return try_again(wanted.bytes, [&] { return reallocate_aligned_inside(aligned, wanted, how); });
    }
};

}
