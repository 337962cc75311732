// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// libtenure.so in heap, through the C interface, as a program that links the shared library calls it. Each call goes
/// through a pointer read from memory, as a call through the linker's table does.

#include <array>
#include <string_view>

#include <tenure/tenure.h>

#include "bench/experiments/heap/heap_workload.hpp"
#include "bench/experiments/modules/modules.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"

namespace tenure::lab {

namespace {

constexpr const char* file = "libtenure.so";

struct shared_calls {
    decltype(&tn_malloc) allocate = nullptr;
    decltype(&tn_free_sized) deallocate = nullptr;
    decltype(&tn_realloc) reallocate = nullptr;
    decltype(&tn_trim) trim = nullptr;
    decltype(&tn_owns) owns = nullptr;
};
shared_calls calls; ///< set once, before anything is measured

struct shared_heap {
    void* allocate(std::size_t bytes) { return calls.allocate(bytes); }
    void deallocate(void* block, std::size_t bytes) { calls.deallocate(block, bytes); }
    void* reallocate(void* block, std::size_t bytes) { return calls.reallocate(block, bytes); }
    bool trim() {
        calls.trim();
        return true;
    }
    static constexpr std::string_view query = "tn_owns";
    [[nodiscard]] bool owns(const void* block) const { return calls.owns(block) != 0; }
};

/// Returns   why it is missing; empty when it exists.
template<class Function>
std::string find(Function*& call, const char* name) {
    const loaded_module found = load_module(file, name);
    call = reinterpret_cast<Function*>(const_cast<void*>(found.symbol));
    return found.reason;
}

void run_shared(const task& asked) {
    for (const std::string& missing :
         {find(calls.allocate, "tn_malloc"), find(calls.deallocate, "tn_free_sized"),
          find(calls.reallocate, "tn_realloc"), find(calls.trim, "tn_trim"), find(calls.owns, "tn_owns")}) {
        if (!missing.empty()) return asked.out.fail(missing);
    }
    run_heap<shared_heap>(asked);
}

std::string_view left_out(const parameters&, std::size_t) {
    return find_own_library(file).empty() ? "libtenure.so is neither beside the command nor in the library folder" : "";
}

constexpr std::array<contestant, 1> all{{
    {.name = "tenure libtenure.so",
     .how = route::inlined,
     .role = contestant_role::ours,
     .kind = "shared library",
     .type = "tn_malloc and tn_free_sized of libtenure.so",
     .note = "the C interface of the shared library, called through pointers; frees pass the size",
     .parts = heap_part::all,
     .run = run_shared,
     .left_out = left_out},
}};

}

std::span<const contestant> shared_in_heap() { return all; }

}
