// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// TBB, and std::execution on top of it. Algorithms are templates in the program, but each of them calls one of two
/// library functions on the thread that started it. TBB's workers are in the region unless they sleep because there is
/// no work.

#include "observe/hook/runtimes/tbb.hpp"

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/record/regions.hpp"

namespace tenure::lab::hook {

namespace {

constinit std::uint32_t region_number = no_region;
constinit std::uint32_t live_workers = 0;
constinit thread_local std::uint32_t inside = 0;           // TBB calls of this thread that wait for an algorithm
constinit thread_local const void* known_caller = nullptr; // of waits; an address in TBB's library

[[nodiscard]] std::uint32_t region() noexcept {
    std::uint32_t found = __atomic_load_n(&region_number, __ATOMIC_RELAXED);
    if (found != no_region) return found;
    found = region_of(region_kind::tbb, 0, 0, nullptr, 0);
    __atomic_store_n(&region_number, found, __ATOMIC_RELAXED);
    return found;
}

[[nodiscard]] bool is_watched() noexcept { return chosen.is_on && (chosen.regions & watches_tbb) != 0; }

/// The region of an algorithm, from its call until it returns or throws.
class running_algorithm {
public:
    running_algorithm() noexcept : opened_{region(), 1, ticks()} {
        note_opened(opened_);
        inside = 1;
        enter(opened_.region, opened_.begin);
    }
    ~running_algorithm() {
        leave();
        inside = 0;
        opened_.threads = 1 + __atomic_load_n(&live_workers, __ATOMIC_RELAXED);
        note_closed(opened_);
    }
    running_algorithm(const running_algorithm&) = delete;
    running_algorithm& operator=(const running_algorithm&) = delete;

private:
    opened_region opened_;
};

/// Runs `wait`, which executes tasks until an algorithm has ended.
template<class Wait>
void run(Wait&& wait) {
    const bool is_outermost = is_watched() && inside == 0 && this_thread.kind != thread_kind::tbb_worker;
    if (!is_outermost) return wait();
    const running_algorithm algorithm;
    wait();
}

}

bool is_idle_in_tasks(std::uintptr_t caller) noexcept {
    if (inside == 0 && this_thread.kind != thread_kind::tbb_worker) return false;
    const auto* const code = reinterpret_cast<const void*>(caller);
    if (code == known_caller) return true;
    if (!is_in_library(caller, "libtbb.so")) return false;
    known_caller = code;
    return true;
}

idle_stay begin_idle() noexcept {
    const idle_stay stay{ticks(), this_thread.kind == thread_kind::tbb_worker};
    if (stay.is_worker) leave();
    return stay;
}

void end_idle(const idle_stay& stay) noexcept {
    if (stay.is_worker) {
        enter(region(), 0);
    } else {
        note_idle(stay.begin, ticks());
    }
}

void begin_worker() noexcept {
    __atomic_fetch_add(&live_workers, 1, __ATOMIC_RELAXED);
    if (is_watched()) enter(region(), 0);
}

void forget_task_region() noexcept { region_number = no_region; }

void end_worker() noexcept { __atomic_fetch_sub(&live_workers, 1, __ATOMIC_RELAXED); }

}

using namespace tenure::lab::hook;

// The arguments are references to TBB classes. To the hook they are addresses that it passes on.
extern "C" {

void _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
    void* task, void* context, void* waiting, void* waiting_context) {
    auto* const function = real<void(void*, void*, void*, void*)>(call::tbb_execute_and_wait);
    run([&] { function(task, context, waiting, waiting_context); });
}

void _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void* waiting, void* context) {
    auto* const function = real<void(void*, void*)>(call::tbb_wait);
    run([&] { function(waiting, context); });
}

void _ZN3tbb6detail2r115wait_on_addressEPvRNS0_2d113delegate_baseEm(void* address, void* condition,
                                                                    std::uintptr_t context) {
    observed_wait<call::tbb_wait_on_address, void(void*, void*, std::uintptr_t)>(here(), address, address, condition,
                                                                                 context);
}
}
