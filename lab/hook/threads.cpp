// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Threads that the process starts: whose they are, what they run, and when they end.

#include <pthread.h>

#include <cstdlib>

#include "hook/observed.hpp"
#include "hook/process.hpp"
#include "hook/regions.hpp"
#include "hook/tasks.hpp"

namespace tenure::lab::hook {

namespace {

struct beginning {
    void* (*function)(void*);
    void* argument;
    thread_kind kind;
    std::uintptr_t routine; ///< what names the thread: for std::thread what it was given
    std::uint64_t created;
};

constinit pthread_key_t end_key = 0;
constinit bool has_end_key = false;

void end_thread(void*) {
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

/// std::thread starts one function of the C++ library with an object, whose third virtual function calls what it was
/// given.
[[nodiscard]] std::uintptr_t routine_of(void* (*function)(void*), const void* argument) noexcept {
    auto const plain = reinterpret_cast<std::uintptr_t>(function);
    if (argument == nullptr || !is_in_library(plain, "libstdc++")) return plain;
    std::uintptr_t const table = *static_cast<const std::uintptr_t*>(argument);
    if (table % sizeof table != 0 || !is_in_module(table)) return plain;
    std::uintptr_t const run = reinterpret_cast<const std::uintptr_t*>(table)[2];
    return is_in_module(run) ? run : plain;
}

void* begin_thread(void* data) {
    beginning const what = *static_cast<beginning*>(data);
    real<decltype(std::free)>(call::free)(data);
    this_thread.kind = what.kind;
    this_thread.stack_top = here().frame + 2 * sizeof(std::uintptr_t);
    this_thread.routine = keep_address(what.routine);
    this_thread.created = what.created;
    if (has_end_key) ::pthread_setspecific(end_key, &this_thread);
    if (what.kind == thread_kind::tbb_worker) begin_worker(this_thread.stack_top);
    bool const is_region = what.kind == thread_kind::program && (chosen.regions & watches_threads) != 0;
    if (is_region)
        enter(region_of(region_kind::thread, what.routine, what.routine, nullptr, 0), what.created,
              this_thread.stack_top);
    void* const answer = what.function(what.argument);
    if (is_region) leave();
    return answer;
}

}

void prepare_threads() noexcept { has_end_key = ::pthread_key_create(&end_key, end_thread) == 0; }

}

using namespace tenure::lab::hook;

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
    auto* const create = real<decltype(pthread_create)>(call::pthread_create);
    if (!chosen.is_on) return create(thread, attributes, function, argument);
    auto* const data = static_cast<beginning*>(real<decltype(std::malloc)>(call::malloc)(sizeof(beginning)));
    if (data == nullptr) return create(thread, attributes, function, argument);
    *data = {function, argument, kind_of(here().caller), routine_of(function, argument), ticks()};
    int const answer = create(thread, attributes, begin_thread, data);
    if (answer != 0) real<decltype(std::free)>(call::free)(data);
    return answer;
}
