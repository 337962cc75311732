// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Allocates on the stack of a coroutine whose bottom is not the return address of a call, as libraries of coroutines
// leave it. Nothing may look at what such an address points to.
//
// usage: coroutine dummy|past_the_end    the address at the bottom: one that no memory has, or one of a function, whose
//                                        caller's frame would lie behind the end of the stack

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

extern "C" void switch_stack(void** old_stack, void* new_stack);
__asm__(".text\n"
        ".globl switch_stack\n"
        "switch_stack:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n");

namespace {

void* stack_of_main;
void* stack_of_coroutine;

__attribute__((noinline)) void allocate_and_free() {
    static void* kept[512];
    for (std::size_t turn = 0; turn < 5000; ++turn) {
        void*& place = kept[turn % 512];
        if (place != nullptr) std::free(place);
        place = std::malloc(100 + turn % 60 * 500);
        if (place != nullptr) std::memset(place, 1, 10);
    }
}

[[noreturn]] void run_coroutine() {
    allocate_and_free();
    switch_stack(&stack_of_coroutine, stack_of_main);
    std::abort();
}

}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    constexpr std::size_t page = 4096, bytes = std::size_t{256} * 1024;
    void* const memory = ::mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 3;
    char* const end = static_cast<char*>(memory) + bytes;
    ::mprotect(end, page, PROT_NONE);
    const bool is_dummy = std::strcmp(arguments[1], "dummy") == 0;
    constexpr std::uintptr_t nowhere = 0xDEAD'DEAD'DEAD'DEAD;
    const auto somewhere = reinterpret_cast<std::uintptr_t>(&run_coroutine) + 1;
    auto** const top = reinterpret_cast<void**>(end - sizeof(void*)); // the stack is aligned as after a call
    *top = reinterpret_cast<void*>(is_dummy ? nowhere : somewhere);
    void** const start = top - 7; // six registers, and where to begin
    start[6] = reinterpret_cast<void*>(&run_coroutine);
    switch_stack(&stack_of_main, start);
    std::puts("finished");
    return 0;
}
