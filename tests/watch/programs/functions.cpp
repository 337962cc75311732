// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Functions to be watched by name: one that recurses, one that throws through another, one that is left by longjmp,
/// one that passes values in wide registers, and some that cannot be patched.

#include <immintrin.h>
#include <setjmp.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

extern "C" {

__attribute__((noinline)) int recurse(int depth) {
    if (depth == 0) {
        void* volatile block = std::malloc(50);
        std::free(block);
        return 0;
    }
    const int below = recurse(depth - 1);
    __asm__ volatile("" ::: "memory");
    return below + 1;
}

__attribute__((noinline)) int throw_up(int value) {
    void* volatile block = std::malloc(60);
    std::free(block);
    if (value % 2 == 0) throw std::runtime_error("even");
    return value;
}

__attribute__((noinline)) int catch_some(int value) {
    try {
        return throw_up(value);
    } catch (const std::runtime_error&) {
        void* volatile block = std::malloc(70);
        std::free(block);
        return -1;
    }
}

// What it throws its caller catches, and works on: that is no time of its own.
__attribute__((noinline)) void throw_to_caller(int value) {
    void* volatile block = std::malloc(90);
    std::free(block);
    if (value % 2 == 0) throw value;
}
__attribute__((noinline)) void catch_and_allocate(int value) {
    try {
        throw_to_caller(value);
    } catch (int) {
        for (int index = 0; index < 10; ++index) {
            void* volatile block = std::malloc(100);
            std::free(block);
        }
    }
}

jmp_buf back;
__attribute__((noinline)) void jump_out(int value) {
    void* volatile block = std::malloc(80);
    std::free(block);
    if (value % 2 == 0) longjmp(back, 1);
}

__attribute__((noinline)) double many_values(double a, double b, double c, double d, double e, double f, double g,
                                             double h, int i, int j, int k, int l, int m, int n, int o, int p) {
    __asm__ volatile("" ::: "memory");
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + i + 2 * j + 3 * k + 4 * l + 5 * m + 6 * n +
           7 * o + 8 * p;
}

__attribute__((noinline, target("avx"))) __m256d add_wide(__m256d a, __m256d b, __m256d c) {
    __asm__ volatile("" ::: "memory");
    return _mm256_add_pd(_mm256_add_pd(a, b), c);
}
__attribute__((noinline, target("avx"))) double sum_wide(double value) {
    const __m256d all = _mm256_set1_pd(value), steps = _mm256_set_pd(4, 3, 2, 1);
    alignas(32) double parts[4];
    _mm256_store_pd(parts, add_wide(all, steps, all));
    return parts[0] + parts[1] + parts[2] + parts[3];
}

// Three bytes: nowhere to put a jump.
__attribute__((noinline, naked)) void too_short() { __asm__("xor %eax, %eax\n ret"); }

// A loop that leads back into the first instructions; and a longer one, whose jump is not among them.
__attribute__((noinline, naked)) void jumps_to_its_begin() {
    __asm__("nop\n"
            "1: dec %edi\n"
            "jg 1b\n"
            "ret");
}
__attribute__((noinline, naked)) void is_jumped_into() {
    __asm__("nop\n"
            "1: dec %edi\n"
            "lea 1(%rdi), %rax\n"
            "lea 2(%rdi), %rdx\n"
            "jg 1b\n"
            "ret");
}
}

namespace {

__attribute__((noinline)) void jump_and_come_back(int round) {
    if (setjmp(back) == 0) jump_out(round);
}

}

int main() {
    int wrong = 0;
    // A thread's first note does more than others: also then wide registers are as they were.
    std::thread([&wrong] {
        if (__builtin_cpu_supports("avx") && sum_wide(7) != 8.0 * 7 + 10) ++wrong;
    }).join();
    for (int round = 0; round < 100; ++round) {
        if (recurse(5) != 5) ++wrong;
        if (catch_some(round) != (round % 2 == 0 ? -1 : round)) ++wrong;
        jump_and_come_back(round);
        catch_and_allocate(round);
        if (__builtin_cpu_supports("avx") && sum_wide(round) != 8.0 * round + 10) ++wrong;
        if (many_values(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8) != 408) ++wrong;
    }
    too_short();
    jumps_to_its_begin();
    is_jumped_into();
    std::printf("%d wrong\n", wrong);
    return wrong;
}
