// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// malloc and free of the process in scene, one row per malloc; and one mimalloc heap per kind of object.

#include <array>
#include <cstdlib>

#include "bench/experiments/scene/scene_run.hpp"
#include "bench/experiments/shared/required_symbol.hpp"

namespace tenure::lab {

namespace {

struct process_malloc {
    static void open() {}
    static block_owner owner() { return {}; }
    static void* allocate(kind, std::size_t bytes) { return std::malloc(bytes); }
    static void deallocate(kind, void* block, std::size_t) { std::free(block); }
};

/// mi_heap_new, mi_heap_malloc, mi_free_size.
struct mimalloc_heaps {
    static inline void* (*take)(void*, std::size_t);
    static inline void (*give)(void*, std::size_t);
    static inline bool (*contains)(void*, const void*);
    static inline void* (*make)();
    static inline void (*destroy)(void*);
    static inline std::array<void*, kind_count> heaps;

    static void open() {
        take = required_symbol<void*(void*, std::size_t)>("mi_heap_malloc");
        give = required_symbol<void(void*, std::size_t)>("mi_free_size");
        contains = required_symbol<bool(void*, const void*)>("mi_heap_contains_block");
        make = required_symbol<void*()>("mi_heap_new");
        destroy = required_symbol<void(void*)>("mi_heap_destroy");
        for (void*& heap : heaps) heap = make();
    }
    static block_owner owner() {
        block_owner made;
        made.query = "mi_heap_contains_block";
        made.asked = heaps[static_cast<std::size_t>(kind::nodes)];
        made.owns = [](const void* heap, const void* block) { return contains(const_cast<void*>(heap), block); };
        return made;
    }
    static void* allocate(kind which, std::size_t bytes) { return take(heaps[static_cast<std::size_t>(which)], bytes); }
    static void deallocate(kind, void* block, std::size_t bytes) { give(block, bytes); }
    static void clear() {
        for (void*& heap : heaps) {
            destroy(heap);
            heap = make();
        }
    }
};

constexpr std::array<contestant, 2> all{{
    {.how = route::process_malloc,
     .role = contestant_role::peer,
     .parts = scene_part::all,
     .run = run_scene<process_malloc>},
    {.name = "mimalloc heap per kind",
     .how = route::process_malloc,
     .role = contestant_role::peer,
     .peer = "mimalloc",
     .note = "mi_heap_malloc in a heap of mi_heap_new() for each kind, mi_free_size",
     .parts = scene_part::of_one_thread,
     .run = run_scene<mimalloc_heaps>},
}};

}

std::span<const contestant> mallocs_in_scene() { return all; }

}
