// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// An OpenMP tool: the library looks for ompt_start_tool() in the process. Numbers and signatures are those of the
/// specification, so LLVM's headers are not needed to build this file.

#include "observe/hook/runtimes/openmp_tool.hpp"

#include <cstdint>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/record/regions.hpp"

namespace tenure::lab::hook {

namespace {

union tool_data {
    std::uint64_t value;
    void* pointer;
};

using look_up_function = void* (*)(const char* name);
using set_callback_function = int (*)(int event, void (*callback)());

// Events.
constexpr int parallel_begin = 3, parallel_end = 4, task_schedule = 6, implicit_task = 7, sync_region_wait = 16,
              mutex_acquired = 27, sync_region = 23, mutex_acquire = 26;
// Endpoints.
constexpr int at_begin = 1;
// Kinds of waits. Since 5.1 the barrier at the end of a construct has its own kind; LLVM's library uses it since 15.
constexpr int barrier_implicit = 2, barrier_implicit_parallel = 9;
// Kinds of locks.
constexpr int is_critical = 5, is_atomic = 6, is_ordered = 7;
// Flags of a parallel construct and of a task.
constexpr int initial_task = 1;

constinit bool is_there = false;
constinit thread_local std::uint64_t wait_since = 0, lock_since = 0;
constinit thread_local bool is_at_end = false;
constinit thread_local std::uint32_t tasks_inside = 0;
// The region whose end the thread has reached. Tasks that it runs there are in the region again.
constinit thread_local std::uint32_t last_region = no_region;
constinit thread_local const tool_data* own_task = nullptr; // the thread's implicit task
constinit thread_local bool runs_task_at_end = false;

constexpr std::uint32_t max_nested = 8;
constinit thread_local opened_region opened_here[max_nested] = {};
constinit thread_local const void* opened_code[max_nested] = {};
constinit thread_local std::uint32_t opened_count = 0;

/// Whether a barrier ends a region: its code address is that of the region's begin or, for workers, nullptr.
[[nodiscard]] bool is_last_barrier(int kind, const void* code) noexcept {
    if (kind != barrier_implicit) return kind == barrier_implicit_parallel;
    if (code == nullptr) return true;
    return opened_count > 0 && opened_count <= max_nested && opened_code[opened_count - 1] == code;
}

/// Stores what the region's threads need: where the region begins and its number. `parallel` is the library's data; the
/// hook uses it as one word.
void on_parallel_begin(tool_data*, const void*, tool_data* parallel, unsigned threads, int, const void* code) {
    opened_region opened;
    const auto caller = reinterpret_cast<std::uintptr_t>(code);
    opened.region = region_of(region_kind::openmp, caller, caller - 1, nullptr, 0); // inside the call
    opened.threads = threads;
    opened.begin = ticks();
    parallel->value = std::uint64_t{opened.region} + 1;
    note_opened(opened);
    if (opened_count < max_nested) {
        opened_here[opened_count] = opened;
        opened_code[opened_count] = code;
    }
    ++opened_count;
}

void on_parallel_end(tool_data*, tool_data*, int, const void*) {
    if (opened_count == 0) return;
    --opened_count;
    if (opened_count < max_nested) note_closed(opened_here[opened_count]);
}

void end_task_at_end() noexcept {
    if (runs_task_at_end) leave();
    runs_task_at_end = false;
}

/// The thread switches to another task. This matters when it has left its region and waits for the others.
void on_task_schedule(tool_data*, int, tool_data* next) {
    if (!is_at_end || next == nullptr || next == own_task) return end_task_at_end();
    if (!runs_task_at_end) runs_task_at_end = enter_if_outside(last_region);
}

void on_implicit_task(int endpoint, tool_data* parallel, tool_data* task, unsigned threads, unsigned, int flags) {
    if ((flags & initial_task) != 0) return;
    if (endpoint == at_begin) {
        if (opened_count > 0 && opened_count <= max_nested && threads > 0) {
            opened_here[opened_count - 1].threads =
                threads; // the actual number; it includes the thread that opened the region
        }
        const std::uint64_t region = parallel == nullptr ? 0 : parallel->value;
        last_region = region == 0 ? no_region : static_cast<std::uint32_t>(region - 1);
        own_task = task;
        enter(last_region, 0);
        ++tasks_inside;
        return;
    }
    end_task_at_end();
    // A worker learns of the region's end only when it is needed again. It left the region when it reached the last
    // barrier.
    if (is_at_end) {
        is_at_end = false;
    } else if (tasks_inside > 0) {
        --tasks_inside;
        leave();
    }
}

void on_sync_region(int kind, int endpoint, tool_data*, tool_data*, const void* code) {
    if (endpoint != at_begin || tasks_inside == 0 || !is_last_barrier(kind, code)) return;
    --tasks_inside;
    is_at_end = true;
    leave();
}

void on_sync_region_wait(int kind, int endpoint, tool_data*, tool_data*, const void* code) {
    if (!is_active() || is_last_barrier(kind, code)) return;
    if (endpoint == at_begin) {
        wait_since = ticks();
    } else if (wait_since != 0) {
        note_wait(call::omp_tool_barrier, here(), wait_since, ticks(), nullptr, 0);
        wait_since = 0;
    }
}

void on_mutex_acquire(int, unsigned, unsigned, std::uint64_t, const void*) { lock_since = ticks(); }

void on_mutex_acquired(int kind, std::uint64_t lock, const void*) {
    if (!is_active() || lock_since == 0) return;
    const std::uint64_t now = ticks();
    const bool is_construct = kind == is_critical || kind == is_atomic || kind == is_ordered;
    const call which = is_construct ? call::omp_tool_critical : call::omp_tool_lock;
    constexpr std::uint64_t free_ticks = 500; // the lock was free: the library reports every acquisition
    if (now - lock_since < free_ticks) return note_quick_lock(which, here());
    note_wait(which, here(), lock_since, now, reinterpret_cast<const void*>(lock), 0);
    lock_since = 0;
}

template<class Function>
void hear(set_callback_function set, int event, Function* function) {
    set(event, reinterpret_cast<void (*)()>(function));
}

int begin_tool(look_up_function look_up, int, tool_data*) {
    auto* const set = reinterpret_cast<set_callback_function>(look_up("ompt_set_callback"));
    if (set == nullptr) return 0;
    hear(set, parallel_begin, on_parallel_begin);
    hear(set, parallel_end, on_parallel_end);
    hear(set, implicit_task, on_implicit_task);
    hear(set, task_schedule, on_task_schedule);
    hear(set, sync_region, on_sync_region);
    hear(set, sync_region_wait, on_sync_region_wait);
    hear(set, mutex_acquire, on_mutex_acquire);
    hear(set, mutex_acquired, on_mutex_acquired);
    is_there = true;
    return 1;
}

void end_tool(tool_data*) {}

struct tool {
    int (*begin)(look_up_function, int, tool_data*);
    void (*end)(tool_data*);
    tool_data data;
};
constinit tool own_tool{begin_tool, end_tool, {0}};

}

bool has_openmp_tool() noexcept { return is_there; }

bool is_openmp_waiting(std::uintptr_t caller) noexcept {
    static constinit thread_local std::uintptr_t known = 0;
    if (!is_there) return false;
    if (caller == known) return true;
    if (!is_in_library(caller, "libomp") && !is_in_library(caller, "libiomp")) return false;
    known = caller;
    return true;
}

}

/// Called once by the library, before its first region. Returns   nullptr when the hook is not to be a tool.
extern "C" void* ompt_start_tool(unsigned, const char*) {
    using namespace tenure::lab::hook;
    return chosen.is_on && (chosen.regions & watches_openmp) != 0 ? &own_tool : nullptr;
}
