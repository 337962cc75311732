// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <limits.h>
#include <pthread.h>

#include <atomic>

#include <tenure/base/no_alloc.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

// Uses pthread keys: their destructors run after those of C++ thread_local objects, run again (four rounds) if a key is
// set again, and need neither allocation nor a handle on this module. With musl, the C++ runtime destroys thread_local
// objects by a key of its own, whose turn may be later; what these destructors use is cleaned up in the next round.
constexpr std::size_t max_functions = 8;

struct end_slots {
    platform::mutex mutex;
    // Written under the lock; released with the key, acquired.
    std::atomic<thread_end_function> functions[max_functions]{};
    pthread_key_t keys[max_functions]{};
};
constinit end_slots slots_of_process{};

TENURE_THREAD_LOCAL bool is_ending = false;

constexpr fork_steps steps_of_end = steps_of_lock<[](void*) noexcept -> mutex& { return slots_of_process.mutex; }>;
constinit fork_handler of_end{fork_order::leaf, nullptr, steps_of_end};
__attribute__((constructor(101))) void register_handler_of_ends() noexcept { of_end.enlist(); }

void call_at_end(void* slot) noexcept {
    is_ending = true;
    const thread_end_function function = static_cast<std::atomic<thread_end_function>*>(slot)->load();
    if (function != nullptr) function();
}

/// The index of the function's slot, created for a new function; max_functions when none is left.
std::size_t slot_of(thread_end_function function) noexcept {
    for (std::size_t index = 0; index < max_functions; ++index) {
        if (slots_of_process.functions[index].load(std::memory_order_acquire) == function) return index;
    }
    const lock_guard lock(slots_of_process.mutex);
    for (std::size_t index = 0; index < max_functions; ++index) {
        const thread_end_function present = slots_of_process.functions[index].load(std::memory_order_acquire);
        if (present == function) return index;
        if (present != nullptr) continue;
        if (::pthread_key_create(&slots_of_process.keys[index], [](void* slot) { call_at_end(slot); }) != 0) break;
        slots_of_process.functions[index].store(function, std::memory_order_release);
        return index;
    }
    return max_functions;
}

// Runs when a plug-in with a static copy is unloaded: the C library must not call into it when threads end later.
__attribute__((destructor)) void forget_keys() noexcept {
    for (std::size_t index = 0; index < max_functions; ++index) {
        if (slots_of_process.functions[index].exchange(nullptr) != nullptr)
            ::pthread_key_delete(slots_of_process.keys[index]);
    }
}

}

std::size_t thread_end_rounds() noexcept { return PTHREAD_DESTRUCTOR_ITERATIONS; }

bool is_thread_ending() noexcept { return is_ending; }

bool has_end_slot(thread_end_function function) noexcept {
    const detail::own_work work;
    return slot_of(function) != max_functions;
}

bool at_thread_end(thread_end_function function) noexcept {
    const detail::own_work work; // the C library may allocate for a thread's first value
    const std::size_t index = slot_of(function);
    return index != max_functions &&
           ::pthread_setspecific(slots_of_process.keys[index], &slots_of_process.functions[index]) == 0;
}

}
