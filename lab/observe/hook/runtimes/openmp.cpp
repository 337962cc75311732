// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// OpenMP as gcc compiles it: a parallel construct is a call that passes a function, and the threads of the region run
/// it. After that function returns, a thread waits for the others until the call ends. This is idle time and is not
/// recorded, unless the thread runs tasks meanwhile (openmp_tasks.cpp).

#include <algorithm>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/runtimes/openmp.hpp"
#include "observe/hook/runtimes/openmp_tool.hpp"

namespace tenure::lab::hook {

namespace {

using member_function = void(void*);

struct parallel_call {
    member_function* function;
    void* data;
    opened_region opened;
};

void run_member(void* argument) {
    auto& call_of_all = *static_cast<parallel_call*>(argument);
    auto* const count = reinterpret_cast<int (*)()>(find_real_or_null(call::omp_get_num_threads));
    if (count != nullptr) {
        __atomic_store_n(&call_of_all.opened.threads, static_cast<std::uint32_t>(count()), __ATOMIC_RELAXED);
    }
    enter(call_of_all.opened.region, call_of_all.opened.begin);
    call_of_all.function(call_of_all.data);
    leave();
}

/// `begin(function, data)` is the real call with its remaining arguments.
template<class Begin>
auto parallel(member_function* function, void* data, Begin&& begin) {
    // LLVM's library has these functions too, but reports its regions through the tools interface.
    if (!chosen.is_on || (chosen.regions & watches_openmp) == 0 || has_openmp_tool()) return begin(function, data);
    parallel_call call_of_all{function, data, {}};
    const auto code = reinterpret_cast<std::uintptr_t>(function);
    call_of_all.opened.region = region_of(region_kind::openmp, code, code, nullptr, 0);
    call_of_all.opened.begin = ticks();
    note_opened(call_of_all.opened);
    if constexpr (std::is_void_v<decltype(begin(function, data))>) {
        begin(run_member, static_cast<void*>(&call_of_all));
        note_closed(call_of_all.opened);
    } else {
        const auto answer = begin(run_member, static_cast<void*>(&call_of_all));
        note_closed(call_of_all.opened);
        return answer;
    }
}

template<call Which>
void parallel_loop(member_function* function, void* data, unsigned threads, long first, long last, long step,
                   long piece, unsigned flags) {
    using signature = void(member_function*, void*, unsigned, long, long, long, long, unsigned);
    parallel(function, data, [&](member_function* member, void* argument) {
        real<signature>(Which)(member, argument, threads, first, last, step, piece, flags);
    });
}
template<call Which> // for schedules that need no chunk size
void parallel_loop(member_function* function, void* data, unsigned threads, long first, long last, long step,
                   unsigned flags) {
    using signature = void(member_function*, void*, unsigned, long, long, long, unsigned);
    parallel(function, data, [&](member_function* member, void* argument) {
        real<signature>(Which)(member, argument, threads, first, last, step, flags);
    });
}

}

}

namespace tenure::lab::hook {

namespace {

constinit std::uint8_t has_tasks = 0; // set by any thread, never cleared

[[nodiscard]] std::uint64_t processor_ticks() noexcept { return processor_ns() * chosen.ticks_per_us / 1000; }

[[nodiscard]] std::uint64_t sleeps() noexcept {
    kernel_figures now;
    ask_kernel_quickly(now);
    return now.voluntary;
}

/// While threads wait for each other they run tasks, if the program has any. Then only the time off the processor
/// counts as a wait, and none if the thread never slept.
template<call Which>
[[gnu::always_inline]] inline void observed_join(const place& from) {
    auto* const function = real<void()>(Which);
    if (!is_active()) [[likely]]
        return function();
    if (__atomic_load_n(&has_tasks, __ATOMIC_RELAXED) == 0) {
        const noted_call<Which> note(from);
        return function();
    }
    const std::uint64_t slept = sleeps(), begin = ticks(), ran = processor_ticks(), waited = this_thread.waited;
    function();
    if (sleeps() == slept) return;
    const std::uint64_t end = ticks(), others = processor_ticks() - ran + (this_thread.waited - waited);
    note_wait(Which, from, begin + std::min(others, end - begin), end, nullptr, 0);
}

/// These locks have no try function. One that is acquired at once was free.
template<call Which, class... Arguments>
[[gnu::always_inline]] inline void observed_section(const place& from, const void* object, Arguments... arguments) {
    auto* const function = real<void(Arguments...)>(Which);
    if (!is_active()) [[likely]]
        return function(arguments...);
    const std::uint64_t begin = ticks();
    note_waiting(Which, from, begin, object);
    function(arguments...);
    const std::uint64_t end = ticks();
    if (end - begin < chosen.ticks_per_us / 2) {
        note_no_wait();
        return note_quick_lock(Which, from);
    }
    note_wait(Which, from, begin, end, object, 0);
}

}

void note_tasks() noexcept { __atomic_store_n(&has_tasks, std::uint8_t{1}, __ATOMIC_RELAXED); }

}

using namespace tenure::lab::hook;

extern "C" {

void GOMP_parallel(member_function* function, void* data, unsigned threads, unsigned flags) {
    parallel(function, data, [&](member_function* member, void* argument) {
        real<decltype(GOMP_parallel)>(call::GOMP_parallel)(member, argument, threads, flags);
    });
}
unsigned GOMP_parallel_reductions(member_function* function, void* data, unsigned threads, unsigned flags) {
    return parallel(function, data, [&](member_function* member, void* argument) {
        return real<decltype(GOMP_parallel_reductions)>(call::GOMP_parallel_reductions)(member, argument, threads,
                                                                                        flags);
    });
}
void GOMP_parallel_sections(member_function* function, void* data, unsigned threads, unsigned count, unsigned flags) {
    parallel(function, data, [&](member_function* member, void* argument) {
        real<decltype(GOMP_parallel_sections)>(call::GOMP_parallel_sections)(member, argument, threads, count, flags);
    });
}

void GOMP_parallel_loop_static(member_function* f, void* data, unsigned threads, long first, long last, long step,
                               long piece, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_static>(f, data, threads, first, last, step, piece, flags);
}
void GOMP_parallel_loop_dynamic(member_function* f, void* data, unsigned threads, long first, long last, long step,
                                long piece, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_dynamic>(f, data, threads, first, last, step, piece, flags);
}
void GOMP_parallel_loop_guided(member_function* f, void* data, unsigned threads, long first, long last, long step,
                               long piece, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_guided>(f, data, threads, first, last, step, piece, flags);
}
void GOMP_parallel_loop_nonmonotonic_dynamic(member_function* f, void* data, unsigned threads, long first, long last,
                                             long step, long piece, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_nonmonotonic_dynamic>(f, data, threads, first, last, step, piece, flags);
}
void GOMP_parallel_loop_nonmonotonic_guided(member_function* f, void* data, unsigned threads, long first, long last,
                                            long step, long piece, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_nonmonotonic_guided>(f, data, threads, first, last, step, piece, flags);
}
void GOMP_parallel_loop_runtime(member_function* f, void* data, unsigned threads, long first, long last, long step,
                                unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_runtime>(f, data, threads, first, last, step, flags);
}
void GOMP_parallel_loop_nonmonotonic_runtime(member_function* f, void* data, unsigned threads, long first, long last,
                                             long step, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_nonmonotonic_runtime>(f, data, threads, first, last, step, flags);
}
void GOMP_parallel_loop_maybe_nonmonotonic_runtime(member_function* f, void* data, unsigned threads, long first,
                                                   long last, long step, unsigned flags) {
    parallel_loop<call::GOMP_parallel_loop_maybe_nonmonotonic_runtime>(f, data, threads, first, last, step, flags);
}

// Calls in which threads of a region wait for each other before its end.
void GOMP_barrier() { observed_join<call::GOMP_barrier>(here()); }
void GOMP_critical_start() { observed_section<call::GOMP_critical_start>(here(), nullptr); }
void GOMP_critical_name_start(void** lock) { observed_section<call::GOMP_critical_name_start>(here(), lock, lock); }
void GOMP_atomic_start() { observed_section<call::GOMP_atomic_start>(here(), nullptr); }
void GOMP_loop_end() { observed_join<call::GOMP_loop_end>(here()); }
void GOMP_sections_end() { observed_join<call::GOMP_sections_end>(here()); }
void GOMP_taskwait() { observed_join<call::GOMP_taskwait>(here()); }
void GOMP_taskgroup_end() { observed_join<call::GOMP_taskgroup_end>(here()); }
void GOMP_ordered_start() { observed<call::GOMP_ordered_start, void()>(here()); }
void* GOMP_single_copy_start() { return observed<call::GOMP_single_copy_start, void*()>(here()); }
void omp_set_lock(void* lock) {
    auto* const function = real<void(void*)>(call::omp_set_lock);
    if (!is_active()) [[likely]]
        return function(lock);
    if (auto* const take = reinterpret_cast<int (*)(void*)>(find_real_or_null(call::omp_test_lock))) {
        if (take(lock) != 0) return note_quick_lock(call::omp_set_lock, here());
    }
    const noted_call<call::omp_set_lock> note(here(), 0, lock);
    return function(lock);
}
void omp_set_nest_lock(void* lock) { observed_wait<call::omp_set_nest_lock, void(void*)>(here(), lock, lock); }
}
