// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/windows/detail/heap_calls.hpp>

#include <cstdint>
#include <cstring>

#include <tenure/dropin/windows/detail/c_runtime.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

// Flags of the system's heap functions.
constexpr std::uint32_t zero_memory = 0x8, in_place_only = 0x10;

using free_function = int(void* heap, std::uint32_t flags, void* block);
using resize_function = void*(void* heap, std::uint32_t flags, void* block, std::size_t bytes);
using size_function = std::size_t(void* heap, std::uint32_t flags, const void* block);
using check_function = int(void* heap, std::uint32_t flags, const void* block);

// Written before an import leads here. Relaxed: the pointee is code, and nothing else is read by it.
constinit detail::atomic<void*> system_free{}, system_resize{}, system_size{}, system_check{};

template<class Function>
[[nodiscard]] Function* own_of(const detail::atomic<void*>& known) noexcept {
    return reinterpret_cast<Function*>(known.load(detail::memory_order::relaxed));
}

int free_in_heap(void* heap, std::uint32_t flags, void* block) noexcept {
    if (block == nullptr || !is_ours(block)) return own_of<free_function>(system_free)(heap, flags, block);
    deallocate<detail::block_form::any>(block);
    return 1;
}

void* resize_in_heap(void* heap, std::uint32_t flags, void* block, std::size_t bytes) noexcept {
    if (block == nullptr || !is_ours(block)) return own_of<resize_function>(system_resize)(heap, flags, block, bytes);
    const std::size_t before = heap::process().usable_size(block);
    void* moved = bytes <= before ? block : nullptr;
    if (moved == nullptr && (flags & in_place_only) == 0) moved = reallocate_ours(block, bytes);
    if (moved != nullptr && bytes > before && (flags & zero_memory) != 0)
        std::memset(static_cast<char*>(moved) + before, 0, bytes - before);
    return moved;
}

std::size_t size_in_heap(void* heap, std::uint32_t flags, const void* block) noexcept {
    if (block != nullptr && is_ours(block)) return heap::process().usable_size(block);
    return own_of<size_function>(system_size)(heap, flags, block);
}

int check_in_heap(void* heap, std::uint32_t flags, const void* block) noexcept {
    if (block != nullptr && is_ours(block)) return 1;
    return own_of<check_function>(system_check)(heap, flags, block);
}

template<class Function>
[[nodiscard]] void* heap_code_of(Function* function) noexcept {
    return reinterpret_cast<void*>(function);
}

}

// The same functions by three names: a runtime imports them from any of these libraries, which forward them.
std::span<platform::redirected_library> libraries_below_runtimes() noexcept {
    static const platform::redirected_function of_kernel[] = {
        {"HeapFree", heap_code_of(&free_in_heap), &system_free},
        {"HeapReAlloc", heap_code_of(&resize_in_heap), &system_resize},
        {"HeapSize", heap_code_of(&size_in_heap), &system_size},
        {"HeapValidate", heap_code_of(&check_in_heap), &system_check},
    };
    static const platform::redirected_function of_base[] = {
        {"HeapFree", heap_code_of(&free_in_heap), nullptr},
        {"HeapReAlloc", heap_code_of(&resize_in_heap), nullptr},
        {"HeapSize", heap_code_of(&size_in_heap), nullptr},
        {"HeapValidate", heap_code_of(&check_in_heap), nullptr},
    };
    static const platform::redirected_function of_loader[] = {
        {"RtlFreeHeap", heap_code_of(&free_in_heap), nullptr},
        {"RtlReAllocateHeap", heap_code_of(&resize_in_heap), nullptr},
        {"RtlSizeHeap", heap_code_of(&size_in_heap), nullptr},
        {"RtlValidateHeap", heap_code_of(&check_in_heap), nullptr},
    };
    static platform::redirected_library libraries[] = {
        {L"kernel32.dll", of_kernel}, {L"kernelbase.dll", of_base}, {L"ntdll.dll", of_loader}};
    return libraries;
}

}
