// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Allocates by every call of malloc and operator new, on several threads and in the child of a fork, and keeps what
// keep_blocks() has allocated. With the word `wait` it waits for its input to end before it ends; with `shrink` it
// maps memory of its own where the end of a block was.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kept_count = 1000;
void* kept[kept_count];
void* volatile passed = nullptr; // so that no allocation is optimised away

template<class T>
T* used(T* block) {
    passed = block;
    return static_cast<T*>(passed);
}

[[gnu::noinline]] void keep_blocks() {
    for (void*& each : kept) {
        each = used(std::malloc(500));
        std::memset(each, 1, 500);
    }
}

void allocate_and_free_each_way() {
    std::free(used(std::malloc(100)));
    std::free(used(std::calloc(10, 30)));
    std::free(used(std::realloc(used(std::malloc(40)), 100'000)));
    std::free(used(std::realloc(used(std::malloc(300'000)), 10)));
    std::free(used(::reallocarray(nullptr, 7, 9)));
    std::free(used(std::aligned_alloc(64, 640)));
    void* block = nullptr;
    if (::posix_memalign(&block, 4096, 5000) == 0) std::free(used(block));
    delete used(new int);
    delete[] used(new int[100]);
    struct alignas(128) wide {
        char bytes[256];
    };
    delete used(new wide);
    delete[] used(new wide[3]);
    ::operator delete(used(::operator new(50, std::nothrow)), std::nothrow);
    try { // refused: nothing is allocated, and the exception comes through
        const std::size_t too_much = static_cast<std::size_t>(-1) / 4;
        passed = ::operator new(too_much);
    } catch (const std::bad_alloc&) {}
}

/// Blocks that one thread allocates and another frees.
void exchange_blocks() {
    std::vector<std::thread> threads;
    std::vector<std::vector<char*>> blocks(4);
    for (std::vector<char*>& each : blocks) {
        threads.emplace_back([&each] {
            for (int turn = 0; turn < 20'000; ++turn) each.push_back(new char[16 + turn % 700]);
            allocate_and_free_each_way();
        });
    }
    for (std::thread& each : threads) each.join();
    threads.clear();
    for (std::vector<char*>& each : blocks) {
        threads.emplace_back([&each] {
            for (char* const block : each) delete[] block;
        });
    }
    for (std::thread& each : threads) each.join();
}

void map_where_a_block_was() {
    constexpr std::size_t before = std::size_t{64} << 20, now = std::size_t{1} << 20, mapped = std::size_t{48} << 20;
    void* block = used(std::malloc(before));
    std::memset(block, 1, before);
    block = used(std::realloc(block, now));
    void* const own = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block != nullptr && own != MAP_FAILED) std::memset(own, 2, mapped);
}

}

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "shrink") == 0) {
        map_where_a_block_was();
        return 0;
    }
    keep_blocks();
    allocate_and_free_each_way();
    exchange_blocks();
    if (const pid_t child = ::fork(); child == 0) {
        allocate_and_free_each_way();
        std::exit(0);
    } else {
        ::waitpid(child, nullptr, 0);
    }
    if (argc > 1 && std::strcmp(argv[1], "wait") == 0) {
        std::puts("ready");
        std::fflush(stdout);
        while (std::getchar() != EOF) {}
    }
    return 0;
}
