// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads that the process starts: their kind, their routine, and their end.

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <threads.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "observe/hook/interpose/observed.hpp"
#include "observe/hook/interpose/raw.hpp"
#include "observe/hook/patch/patches.hpp"
#include "observe/hook/record/process.hpp"
#include "observe/hook/record/regions.hpp"
#include "observe/hook/runtimes/tbb.hpp"

namespace tenure::lab::hook {

namespace {

struct beginning {
    void* (*function)(void*);
    void* argument;
    thread_kind kind;
    std::uintptr_t routine; ///< names the thread; for std::thread, the function it was given
    std::uint64_t created;
};

constinit pthread_key_t end_key = 0;
constinit bool has_end_key = false;

void end_thread(void*) {
    note_cancelled();
    forget_entered();
    if (this_thread.kind == thread_kind::tbb_worker) end_worker();
    while (this_thread.depth > 0) leave();
    close_area();
}

[[nodiscard]] thread_kind kind_of(std::uintptr_t caller) noexcept {
    if (is_in_library(caller, "libgomp") || is_in_library(caller, "libomp") || is_in_library(caller, "libiomp")) {
        return thread_kind::openmp_worker;
    }
    if (is_in_library(caller, "libtbb")) return thread_kind::tbb_worker;
    return thread_kind::program;
}

/// Returns the function that a std::thread state object points to. The object holds the arguments, then the pointer;
/// its type is a tuple whose first element is the pointer, stored last. `table` is the object's virtual table.
[[nodiscard]] std::uintptr_t pointed_function(const void* state, std::uintptr_t table) noexcept {
    const std::uintptr_t type = reinterpret_cast<const std::uintptr_t*>(table)[-1];
    if (!is_in_module(type)) return 0;
    const char* const name = reinterpret_cast<const char* const*>(type)[1];
    if (!is_in_module(reinterpret_cast<std::uintptr_t>(name))) return 0;
    const char* const first = std::strstr(name, "5tupleIJ");
    if (first == nullptr || (std::strncmp(first + 8, "PF", 2) != 0 && first[8] != 'M')) return 0;
    constexpr std::size_t max_words = 16;
    std::uintptr_t words[max_words] = {};
    const iovec here_{words, sizeof words}, there{const_cast<void*>(state), sizeof words};
    // Reads as much as can be read, because the object's end is not known.
    const long got = raw_call(SYS_process_vm_readv, raw_call(SYS_getpid), reinterpret_cast<long>(&here_), 1,
                              reinterpret_cast<long>(&there), 1, 0);
    for (long index = 1; index < got / static_cast<long>(sizeof words[0]); ++index) {
        if (is_code(words[index])) return words[index];
    }
    return 0;
}

/// std::thread starts one function of the C++ library with a state object, whose third virtual function calls the
/// thread's function.
[[nodiscard]] std::uintptr_t routine_of(void* (*function)(void*), const void* argument) noexcept {
    const auto plain = reinterpret_cast<std::uintptr_t>(function);
    if (argument == nullptr || !is_in_library(plain, "libstdc++")) return plain;
    const std::uintptr_t table = *static_cast<const std::uintptr_t*>(argument);
    if (table % sizeof table != 0 || !is_in_module(table)) return plain;
    const std::uintptr_t run = reinterpret_cast<const std::uintptr_t*>(table)[2];
    if (!is_in_module(run)) return plain;
    const std::uintptr_t pointed = pointed_function(argument, table);
    return pointed != 0 ? pointed : run;
}

void* begin_thread(void* data) {
    const beginning what = *static_cast<beginning*>(data);
    real<decltype(std::free)>(call::free)(data);
    this_thread.kind = what.kind;
    know_own_stack(here().frame + 2 * sizeof(std::uintptr_t));
    this_thread.routine = keep_address(what.routine);
    this_thread.created = what.created;
    if (has_end_key) ::pthread_setspecific(end_key, &this_thread);
    if (what.kind == thread_kind::tbb_worker) begin_worker();
    if ((chosen.regions & watches_process) != 0) {
        enter(region_of(region_kind::process, 0, 0, nullptr, 0), 0);
    }
    if (what.kind == thread_kind::program && (chosen.regions & watches_threads) != 0) {
        enter(region_of(region_kind::thread, what.routine, what.routine, nullptr, 0), what.created);
    }
    void* const answer = what.function(what.argument);
    while (this_thread.depth > 0) leave();
    return answer;
}

}

void ask_for_end() noexcept {
    if (has_end_key) ::pthread_setspecific(end_key, &this_thread);
}

void prepare_threads() noexcept { has_end_key = ::pthread_key_create(&end_key, end_thread) == 0; }

void know_own_stack(std::uintptr_t top) noexcept {
    // Memory below a guessed end may belong to another stack, with an unreadable guard page between the two.
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return; // then no address counts as on the stack
    void* lowest = nullptr;
    std::size_t bytes = 0, guard_bytes = 0;
    const bool is_known = ::pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 &&
                          ::pthread_attr_getguardsize(&attributes, &guard_bytes) == 0;
    ::pthread_attr_destroy(&attributes);
    const auto low = reinterpret_cast<std::uintptr_t>(lowest);
    if (!is_known || top <= low || top - low > bytes) return;
    // C library versions differ in whether the guard is part of it.
    this_thread.stack_low = low + (guard_bytes < top - low ? guard_bytes : 0);
    this_thread.stack_top = top;
}

namespace {

// Stack space that recording needs, mostly for unwinding.
constexpr std::size_t own_stack_bytes = std::size_t{64} * 1024, small_stack_bytes = std::size_t{256} * 1024;

/// Enlarges a small stack to make room for recording, unless the program has allocated the stack itself.
const pthread_attr_t* with_room(const pthread_attr_t* attributes, pthread_attr_t& larger) noexcept {
    void* lowest = nullptr;
    std::size_t asked = 0;
    if (attributes == nullptr || ::pthread_attr_getstack(attributes, &lowest, &asked) != 0 || asked == 0)
        return attributes;
    const bool is_brought = reinterpret_cast<std::uintptr_t>(lowest) + asked != 0;
    if (is_brought || asked >= small_stack_bytes) return attributes;
    std::memcpy(&larger, attributes, sizeof larger); // shallow copy; not destroyed
    return ::pthread_attr_setstacksize(&larger, asked + own_stack_bytes) == 0 ? &larger : attributes;
}

/// For C11 threads, which have another type of function.
struct plain_beginning {
    thrd_start_t function;
    void* argument;
};
void* run_plain(void* data) {
    const plain_beginning what = *static_cast<plain_beginning*>(data);
    real<decltype(std::free)>(call::free)(data);
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(what.function(what.argument)));
}

[[nodiscard]] int begin(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument,
                        std::uintptr_t caller, std::uintptr_t routine) {
    auto* const create = real<decltype(pthread_create)>(call::pthread_create);
    auto* const data = static_cast<beginning*>(real<decltype(std::malloc)>(call::malloc)(sizeof(beginning)));
    if (data == nullptr) return create(thread, attributes, function, argument);
    pthread_attr_t larger;
    attributes = with_room(attributes, larger);
    *data = {function, argument, kind_of(caller), routine, ticks()};
    const int answer = create(thread, attributes, begin_thread, data);
    if (answer != 0) real<decltype(std::free)>(call::free)(data);
    return answer;
}

}

}

using namespace tenure::lab::hook;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
    if (!chosen.is_on)
        return real<decltype(pthread_create)>(call::pthread_create)(thread, attributes, function, argument);
    return begin(thread, attributes, function, argument, here().caller, routine_of(function, argument));
}

// thrd_join() takes the integer out of the pointer that a POSIX thread returns.
int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
    if (!chosen.is_on) return real<decltype(thrd_create)>(call::thrd_create)(thread, function, argument);
    auto* const data =
        static_cast<plain_beginning*>(real<decltype(std::malloc)>(call::malloc)(sizeof(plain_beginning)));
    if (data == nullptr) return thrd_nomem;
    *data = {function, argument};
    const int answer =
        begin(thread, nullptr, run_plain, data, here().caller, reinterpret_cast<std::uintptr_t>(function));
    if (answer == 0) return thrd_success;
    real<decltype(std::free)>(call::free)(data);
    return answer == ENOMEM || answer == EAGAIN ? thrd_nomem : thrd_error;
}
}
