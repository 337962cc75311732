// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// operator new and delete of the process in the pools experiment, one row per malloc; and mimalloc's heap, the only
/// malloc here that can drop everything at once.

#include <array>
#include <new>
#include <string_view>

#include "bench/experiments/pools/pools_contestant.hpp"
#include "bench/experiments/shared/required_symbol.hpp"
#include "bench/harness/mallocs/malloc_calls.hpp"

namespace tenure::lab {

namespace {

template<std::size_t Bytes>
struct operator_new {
    using object = test_object<Bytes>;
    static constexpr bool shared = true;
    static constexpr std::size_t alignment = malloc_alignment(Bytes);

    object* construct(int number) { return new object(number); }
    void destroy(object* made) { delete made; }
    void trim() {
        if (process_malloc_calls().trim != nullptr) process_malloc_calls().trim();
    }
};

/// mi_heap_new, mi_heap_malloc, mi_heap_destroy.
template<std::size_t Bytes>
class mimalloc_heap {
public:
    using object = test_object<Bytes>;
    static constexpr bool pairs = false, one_by_one = false, singly = false;
    static constexpr std::size_t alignment = malloc_alignment(Bytes);

    object* construct(int number) {
        void* const block = allocate_(heap_, sizeof(object));
        return block == nullptr ? nullptr : new (block) object(number);
    }
    void destroy(object*) {}
    void drop() {
        destroy_(heap_);
        heap_ = make_();
    }
    static constexpr std::string_view query = "mi_heap_contains_block";
    [[nodiscard]] bool owns(const void* block) const { return contains_(heap_, block); }

private:
    void* (*make_)() = required_symbol<void*()>("mi_heap_new");
    void* (*allocate_)(void*, std::size_t) = required_symbol<void*(void*, std::size_t)>("mi_heap_malloc");
    bool (*contains_)(void*, const void*) = required_symbol<bool(void*, const void*)>("mi_heap_contains_block");
    void (*destroy_)(void*) = required_symbol<void(void*)>("mi_heap_destroy");
    void* heap_ = make_();
};

constexpr std::array<contestant, 2> all{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = pool_parts<operator_new>(),
     .run = run_pool<operator_new>},
    {.name = "mimalloc heap",
     .how = route::process_malloc,
     .role = contestant_role::peer,
     .peer = "mimalloc",
     .note = "mi_heap_malloc; dropped by mi_heap_destroy, which runs no destructors, and made anew, which is timed too",
     .parts = pool_parts<mimalloc_heap>(),
     .run = run_pool<mimalloc_heap>},
}};

}

std::span<const contestant> mallocs_in_pools() { return all; }

}
