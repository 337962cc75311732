/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Two fibers on one stack, which call malloc from the same place at the same address. The second one's stack ends where
   the first one's frames were: what was learned there must not be read again. */

#include <alloca.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t outside, fiber;
static char* stack;
static size_t frame_bytes;

__attribute__((noinline)) void allocate(void* frame) {
    void* volatile block = malloc(10);
    free(block);
    __asm__ volatile("" ::"r"(frame) : "memory");
}
__attribute__((noinline)) void take_frame(size_t bytes) {
    allocate(alloca(bytes));
    __asm__ volatile("" ::: "memory");
}
static void run_fiber(void) { take_frame(1024 + frame_bytes); }

static void run(size_t stack_bytes, size_t bytes) {
    frame_bytes = bytes;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = stack_bytes;
    fiber.uc_link = &outside;
    makecontext(&fiber, run_fiber, 0);
    swapcontext(&outside, &fiber);
}

int main(void) {
    void (*begin)(const char*, size_t) = (void (*)(const char*, size_t))dlsym(RTLD_DEFAULT, "tn_region_begin");
    void (*end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "tn_region_end");
    const size_t small = 1 << 16, large = 1 << 17, whole = 1 << 18;
    stack = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return 1;
    if (begin != NULL) begin("fibers", 6);
    run(large, large - small);
    mprotect(stack + small, whole - small, PROT_NONE);
    run(small, 0);
    if (end != NULL) end();
    printf("both came back\n");
    return 0;
}
