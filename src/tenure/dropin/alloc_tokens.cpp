// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Typed allocation: the functions that code compiled with `clang -fsanitize=alloc-token` calls instead of malloc and
/// operator new (https://clang.llvm.org/docs/AllocToken.html). The compiler derives a token from the type.
///
/// Small blocks of different token groups are not in one page, because each group is an owner tag: see heap_tags.cpp.
/// They are only when 256 other tags have pages already, without memory for a thread's cache, and for a thread that is
/// past its end.
/// A group is a token below eight; larger tokens, which are hashes of type names, are spread over the groups 1 to 3 or,
/// for types with pointers (the upper half of all tokens), 4 to 7. Token 0 is what the compiler passes when it does not
/// know the type: such blocks are in ordinary pages, with malloc's.

#include <malloc.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include <tenure/base/compiler.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/dropin/detail/early.hpp>
#include <tenure/dropin/detail/out_of_memory.hpp>
#include <tenure/dropin/detail/quick.hpp>
#include <tenure/dropin/detail/tagged.hpp>
#include <tenure/platform/memory.hpp>

// The functions below are not inlined into the 153 entry points.

namespace {

using namespace tenure;
using detail::fill;

constexpr std::size_t group_count = 8;
// Tags by group; zero: not made yet. Released and acquired as tag::named() does it: who reports a block reads the tag's
// name without a lock.
constinit std::atomic<std::uint16_t> known_tags[group_count]{};

/// Also the first touch of a group: the tags show it by this name in statistics.
[[nodiscard]] TENURE_COLD std::uint16_t make_tag(std::size_t group) noexcept {
    report_text name;
    const std::uint16_t id = tag::named(name.text("alloc token ").number(group).view()).id();
    known_tags[group].store(id, std::memory_order_release);
    return id;
}

/// The owner tag of a token's group; zero: none.
[[nodiscard]] TENURE_ALWAYS_INLINE std::uint16_t tag_of(std::size_t token) noexcept {
    constexpr std::size_t first_with_pointers = SIZE_MAX / 2; // in the compiler's mode typehashpointersplit
    std::size_t group = token;
    if (token >= first_with_pointers) {
        group = 4 + token % 4;
    } else if (token >= group_count) {
        group = 1 + token % 3;
    }
    if (group == 0) return 0;
    const std::uint16_t known = known_tags[group].load(std::memory_order_acquire);
    return known != 0 ? known : make_tag(group);
}

/// Takes a block from the calling thread's cache for the tag.
/// Requires  `alignment` is a power of two.
[[nodiscard]] TENURE_ALWAYS_INLINE bool allocate_fast(void*& block, std::uint16_t tag, std::size_t bytes,
                                                      std::size_t alignment) noexcept {
    detail::thread_cache* cache = detail::process_cache();
    const bool is_small = bytes <= detail::max_small_bytes && alignment <= detail::max_small_bytes;
    if (checks::caller || cache == nullptr || !is_small) return false;
    cache = cache->main;
    while (cache != nullptr && cache->tag != tag) cache = cache->next_of_thread;
    return cache != nullptr && detail::pop(block, cache->of_class[detail::class_for(bytes, alignment)]);
}

[[nodiscard]] TENURE_NOINLINE void* allocate(std::size_t token, std::size_t bytes,
                                             std::size_t alignment = default_alignment) noexcept {
    const std::uint16_t tag = tag_of(token);
    if (tag == 0) return dropin::allocate_aligned(bytes, alignment);
    void* block = nullptr;
    return allocate_fast(block, tag, bytes, alignment)
               ? block
               : dropin::allocate_tagged(tag, bytes, alignment, fill::none, TENURE_RETURN_ADDRESS());
}

[[nodiscard]] void* refuse_with(int error) noexcept {
    errno = error;
    return nullptr;
}

[[nodiscard]] void* allocate_aligned(std::size_t token, std::size_t alignment, std::size_t bytes) noexcept {
    return allocate(token, bytes, std::max(alignment, default_alignment));
}

[[nodiscard]] TENURE_NOINLINE void* allocate_zeroed(std::size_t token, std::size_t count, std::size_t bytes) noexcept {
    std::size_t whole = 0;
    if (detail::multiply_overflows(count, bytes, whole)) return refuse_with(ENOMEM);
    const std::uint16_t tag = tag_of(token);
    if (tag == 0) return ::calloc(1, whole);
    void* block = nullptr;
    return allocate_fast(block, tag, whole, default_alignment)
               ? std::memset(block, 0, whole)
               : dropin::allocate_tagged(tag, whole, default_alignment, fill::zero, TENURE_RETURN_ADDRESS());
}

/// A block that stays in place stays in its group.
[[nodiscard]] TENURE_NOINLINE void* resize(std::size_t token, void* block, std::size_t bytes) noexcept {
    const std::uint16_t tag = tag_of(token);
    if (block == nullptr) return allocate(token, bytes);
    if (bytes == 0) {
        dropin::deallocate(block);
        return nullptr;
    }
    if (tag == 0 || dropin::is_early(block)) return ::realloc(block, bytes);
    return dropin::reallocate_tagged(tag, block, bytes, TENURE_RETURN_ADDRESS());
}

[[nodiscard]] void* resize_array(std::size_t token, void* block, std::size_t count, std::size_t bytes) noexcept {
    std::size_t whole = 0;
    return detail::multiply_overflows(count, bytes, whole) ? refuse_with(ENOMEM) : resize(token, block, whole);
}

[[nodiscard]] TENURE_NOINLINE void* allocate_c_aligned(std::size_t token, std::size_t alignment,
                                                       std::size_t bytes) noexcept {
    return is_power_of_two(alignment) ? allocate_aligned(token, alignment, bytes) : refuse_with(EINVAL);
}

[[nodiscard]] TENURE_NOINLINE void* allocate_memalign(std::size_t token, std::size_t alignment,
                                                      std::size_t bytes) noexcept {
    constexpr std::size_t largest = (SIZE_MAX >> 1) + 1;
    return alignment <= largest ? allocate_aligned(token, std::bit_ceil(alignment), bytes) : refuse_with(EINVAL);
}

[[nodiscard]] TENURE_NOINLINE int allocate_posix(std::size_t token, void** result, std::size_t alignment,
                                                 std::size_t bytes) noexcept {
    if (alignment < sizeof(void*) || !is_power_of_two(alignment)) return EINVAL;
    void* const block = allocate_aligned(token, alignment, bytes);
    if (block == nullptr) return ENOMEM;
    *result = block;
    return 0;
}

[[nodiscard]] TENURE_NOINLINE void* allocate_pages(std::size_t token, std::size_t bytes) noexcept {
    const std::size_t page = platform::page_bytes();
    return bytes <= SIZE_MAX - page ? allocate_aligned(token, page, align_up(bytes, page)) : refuse_with(ENOMEM);
}

// When out of memory, the runtime's own operator new calls the new handler and asks for a block without a token.
[[nodiscard]] TENURE_NOINLINE void* create(std::size_t token, std::size_t bytes, std::size_t alignment) {
    void* const block = allocate(token, bytes, alignment);
    return block != nullptr ? block : dropin::new_failed(bytes, alignment);
}

[[nodiscard]] TENURE_NOINLINE void* create_quietly(std::size_t token, std::size_t bytes,
                                                   std::size_t alignment) noexcept {
    void* const block = allocate(token, bytes, alignment);
    return block != nullptr ? block : dropin::new_failed_nothrow(bytes, alignment);
}

}

// The token is the last argument or, in the fast ABI, part of the name: `named` joins a name, `last` and `token` are
// what the argument list ends with and what is passed on.
// NOLINTBEGIN(bugprone-*,cert-*,readability-identifier-naming)
#define TENURE_TOKEN_FUNCTIONS(named, last, token)                                                                     \
    void* named(malloc)(std::size_t bytes last) noexcept { return allocate(token, bytes); }                            \
    void* named(calloc)(std::size_t count, std::size_t bytes last) noexcept {                                          \
        return allocate_zeroed(token, count, bytes);                                                                   \
    }                                                                                                                  \
    void* named(realloc)(void* block, std::size_t bytes last) noexcept { return resize(token, block, bytes); }         \
    void* named(reallocarray)(void* block, std::size_t count, std::size_t bytes last) noexcept {                       \
        return resize_array(token, block, count, bytes);                                                               \
    }                                                                                                                  \
    void* named(aligned_alloc)(std::size_t alignment, std::size_t bytes last) noexcept {                               \
        return allocate_c_aligned(token, alignment, bytes);                                                            \
    }                                                                                                                  \
    void* named(memalign)(std::size_t alignment, std::size_t bytes last) noexcept {                                    \
        return allocate_memalign(token, alignment, bytes);                                                             \
    }                                                                                                                  \
    int named(posix_memalign)(void** result, std::size_t alignment, std::size_t bytes last) noexcept {                 \
        return allocate_posix(token, result, alignment, bytes);                                                        \
    }                                                                                                                  \
    void* named(valloc)(std::size_t bytes last) noexcept {                                                             \
        return allocate_aligned(token, platform::page_bytes(), bytes);                                                 \
    }                                                                                                                  \
    void* named(pvalloc)(std::size_t bytes last) noexcept { return allocate_pages(token, bytes); }                     \
    void* named(_Znwm)(std::size_t bytes last) { return create(token, bytes, default_alignment); }                     \
    void* named(_Znam)(std::size_t bytes last) { return create(token, bytes, default_alignment); }                     \
    void* named(_ZnwmRKSt9nothrow_t)(std::size_t bytes, const std::nothrow_t& last) noexcept {                         \
        return create_quietly(token, bytes, default_alignment);                                                        \
    }                                                                                                                  \
    void* named(_ZnamRKSt9nothrow_t)(std::size_t bytes, const std::nothrow_t& last) noexcept {                         \
        return create_quietly(token, bytes, default_alignment);                                                        \
    }                                                                                                                  \
    void* named(_ZnwmSt11align_val_t)(std::size_t bytes, std::size_t alignment last) {                                 \
        return create(token, bytes, alignment);                                                                        \
    }                                                                                                                  \
    void* named(_ZnamSt11align_val_t)(std::size_t bytes, std::size_t alignment last) {                                 \
        return create(token, bytes, alignment);                                                                        \
    }                                                                                                                  \
    void* named(_ZnwmSt11align_val_tRKSt9nothrow_t)(std::size_t bytes, std::size_t alignment,                          \
                                                    const std::nothrow_t& last) noexcept {                             \
        return create_quietly(token, bytes, alignment);                                                                \
    }                                                                                                                  \
    void* named(_ZnamSt11align_val_tRKSt9nothrow_t)(std::size_t bytes, std::size_t alignment,                          \
                                                    const std::nothrow_t& last) noexcept {                             \
        return create_quietly(token, bytes, alignment);                                                                \
    }

#define TENURE_NAMED(name) __alloc_token_##name
#define TENURE_LAST_ARGUMENT , std::size_t token
#define TENURE_NAMED_0(name) __alloc_token_0_##name
#define TENURE_NAMED_1(name) __alloc_token_1_##name
#define TENURE_NAMED_2(name) __alloc_token_2_##name
#define TENURE_NAMED_3(name) __alloc_token_3_##name
#define TENURE_NAMED_4(name) __alloc_token_4_##name
#define TENURE_NAMED_5(name) __alloc_token_5_##name
#define TENURE_NAMED_6(name) __alloc_token_6_##name
#define TENURE_NAMED_7(name) __alloc_token_7_##name

#pragma GCC diagnostic ignored "-Wmissing-declarations" // only compilers call them
#pragma GCC visibility push(default)
extern "C" {
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED, TENURE_LAST_ARGUMENT, token)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_0, , 0)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_1, , 1)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_2, , 2)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_3, , 3)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_4, , 4)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_5, , 5)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_6, , 6)
TENURE_TOKEN_FUNCTIONS(TENURE_NAMED_7, , 7)
}
#pragma GCC visibility pop
// NOLINTEND(bugprone-*,cert-*,readability-identifier-naming)
