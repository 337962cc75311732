// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// usage: promise WAY    allocates or frees in some way while its thread has promised not to, or may

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/tenure.h>

namespace {

using tenure::allow_alloc_scope;
using tenure::no_alloc_scope;
using tenure::no_wait_scope;

void free_block(void* block) { std::free(block); }
int* volatile kept = nullptr; // or the compiler leaves a new with its delete out

void* allocate(std::string_view way, void* old) {
    if (way == "calloc") return std::calloc(3, 5);
    if (way == "realloc") return std::realloc(old, 100'000);
    if (way == "aligned_alloc") return std::aligned_alloc(64, 64);
    return std::malloc(15);
}

int break_promise(std::string_view way, void* old) {
    const no_alloc_scope promise;
    if (way == "new") {
        kept = new int(1);
        delete kept;
        return 0;
    }
    void* const block = allocate(way, old);
    free_block(block);
    if (way != "realloc") free_block(old);
    return block == nullptr ? 1 : 0;
}

int break_wait_promise(std::string_view way, void* old) {
    const no_wait_scope promise;
    if (way == "wait_malloc") return allocate("malloc", nullptr) == nullptr ? 1 : 0;
    free_block(way == "wait_free" ? old : nullptr);
    return 0;
}

/// What a promise leaves: frees, a look, the first use of a part of the library, other threads, and what is permitted.
int keep_promise(void* old) {
    std::atomic<int> step{0};
    std::thread other([&step] {
        while (step.load() != 1) std::this_thread::yield();
        free_block(std::malloc(100));
        step.store(2);
    });
    {
        const no_alloc_scope promise;
        const tenure::temp_scope first_use;
        step.store(1);
        while (step.load() != 2) std::this_thread::yield();
        free_block(old);
        const allow_alloc_scope permission;
        free_block(std::malloc(200));
        const no_alloc_scope within;
        free_block(std::malloc(300));
    }
    other.join();
    tn_no_alloc_begin();
    tn_allow_alloc_begin();
    free_block(std::malloc(400));
    tn_allow_alloc_end();
    tn_no_alloc_end();
    free_block(std::malloc(500));
    {
        const no_wait_scope promise;
        const allow_alloc_scope permission;
        free_block(std::malloc(600));
        free_block(nullptr);
    }
    return 0;
}

}

int main(int, char** arguments) {
    const std::string_view way = arguments[1];
    void* const old = std::malloc(50);
    if (way.starts_with("wait_")) return break_wait_promise(way, old);
    return way == "keep" ? keep_promise(old) : break_promise(way, old);
}
