// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The start of a process, its forks and its ends.

#include "observe/hook/record/process.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/patch/patches.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/runtimes/tbb.hpp"

extern "C" void* __libc_stack_end; // NOLINT: the C library's name

namespace tenure::lab::hook {

namespace {

[[nodiscard]] bool has_word(const char* list, const char* word) noexcept {
    const std::size_t length = std::strlen(word);
    for (const char* at = list; (at = std::strstr(at, word)) != nullptr; at += length) {
        const bool begins = at == list || at[-1] == ',';
        if (begins && (at[length] == '\0' || at[length] == ',')) return true;
    }
    return false;
}

/// Ticks per microsecond, measured over 20 µs: accurate enough for a threshold.
[[nodiscard]] std::uint64_t ticks_of_short_wait() noexcept {
    timespec begin{}, now{};
    raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&begin));
    const std::uint64_t first = ticks();
    long spent = 0;
    constexpr long wanted_ns = 20'000;
    while (spent < wanted_ns) {
        raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
        spent = (now.tv_sec - begin.tv_sec) * 1'000'000'000 + now.tv_nsec - begin.tv_nsec;
    }
    return (ticks() - first) * 1000 / static_cast<std::uint64_t>(spent);
}

/// The smaller of two measurements, because the thread may be preempted between the clock reads.
[[nodiscard]] std::uint64_t ticks_per_us() noexcept {
    const std::uint64_t first = ticks_of_short_wait(), second = ticks_of_short_wait();
    return first < second ? first : second;
}

void read_settings() noexcept {
    const char* const folder = std::getenv(folder_variable);
    chosen.is_on = folder != nullptr && *folder != '\0' && is_process_watched();
    if (!chosen.is_on) return;
    const char* const regions = std::getenv(regions_variable);
    const char* const list = regions == nullptr ? "openmp,tbb,threads,marks" : regions;
    chosen.regions = (has_word(list, "openmp") ? watches_openmp : 0) | (has_word(list, "tbb") ? watches_tbb : 0) |
                     (has_word(list, "threads") ? watches_threads : 0) | (has_word(list, "marks") ? watches_marks : 0) |
                     (has_word(list, "process") ? watches_process : 0);
    const char* const stacks = std::getenv(stacks_variable);
    if (stacks != nullptr && std::strcmp(stacks, "none") == 0) chosen.stacks = stack_mode::none;
    if (stacks != nullptr && std::strcmp(stacks, "frames") == 0) chosen.stacks = stack_mode::frames;
    const char* const slow = std::getenv(slow_variable);
    constexpr std::uint64_t default_slow_ns = 2000;
    const std::uint64_t slow_ns = slow == nullptr ? default_slow_ns : std::strtoull(slow, nullptr, 10);
    chosen.ticks_per_us = ticks_per_us();
    chosen.slow_ticks = slow_ns * chosen.ticks_per_us / 1000;
}

/// The cost of the first touch of an OS page in this process.
[[nodiscard]] std::uint64_t fault_cost_ns() noexcept {
    constexpr long pages = 64, page = 4096;
    const long memory = raw_call(SYS_mmap, 0, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -4096) return 0;
    raw_call(SYS_madvise, memory, pages * page, 15); // MADV_NOHUGEPAGE
    timespec begin{}, end{};
    raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&begin));
    for (long index = 0; index < pages; ++index) *reinterpret_cast<volatile char*>(memory + index * page) = 1;
    raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&end));
    raw_call(SYS_munmap, memory, pages * page);
    const long spent = (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
    return static_cast<std::uint64_t>(spent / pages);
}

/// Makes the whole program a region, if asked for.
void enter_process() noexcept {
    if ((chosen.regions & watches_process) == 0) return;
    enter(region_of(region_kind::process, 0, 0, nullptr, 0), 0);
}

void begin_child() noexcept {
    forget_after_fork();
    forget_private_writer();
    forget_task_region();
    forget_patch_regions();
    if (chosen.is_on) enter_process();
}

[[gnu::constructor]] void begin_process() noexcept {
    find_reals();
    read_settings();
    this_thread.kind = thread_kind::main;
    if (!chosen.is_on) return;
    know_own_stack(reinterpret_cast<std::uintptr_t>(__libc_stack_end));
    process_head* const process = head_of_process();
    if (process == nullptr) {
        chosen.is_on = false;
        return;
    }
    process->fault_ns = fault_cost_ns();
    const auto malloc_of_all = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, "malloc"));
    process->own_malloc = is_in_library(malloc_of_all, "libtenure_watch") ? 0 : 1;
    prepare_threads();
    ::pthread_atfork(nullptr, nullptr, begin_child);
    read_plan(std::getenv(plan_variable));
    apply_patches();
    enter_process();
}

[[gnu::destructor]] void end_process() noexcept { note_end(process_end::exit); }

}

bool is_process_watched() noexcept {
    const char* const only = std::getenv(process_variable);
    return only == nullptr || std::strtol(only, nullptr, 10) == raw_call(SYS_getpid);
}

}

using namespace tenure::lab::hook;

extern "C" {

// fork() calls the atfork handlers; _Fork() does not.
pid_t _Fork() {
    const pid_t child = real<pid_t()>(call::fork_plainly)();
    if (child == 0 && chosen.is_on) begin_child();
    return child;
}

[[noreturn]] void _exit(int status) {
    note_end(process_end::quick_exit);
    real<void(int)>(call::exit_at_once)(status);
    __builtin_unreachable();
}
[[noreturn]] void _Exit(int status) {
    note_end(process_end::quick_exit);
    real<void(int)>(call::exit_at_once_too)(status);
    __builtin_unreachable();
}
[[noreturn]] void quick_exit(int status) {
    note_end(process_end::quick_exit);
    real<void(int)>(call::quick_exit)(status);
    __builtin_unreachable();
}
}
