// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <pthread.h>
#include <signal.h>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

using background_function = void (*)() noexcept;
constinit background_function started = nullptr; // one per process: the thread reads it when it starts

void* run(void*) noexcept {
    started();
    return nullptr;
}

}

bool start_background(background_function function) noexcept {
    started = function;
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return false;
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, stack_bytes);
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // the new thread inherits it
    pthread_t thread{};
    const bool is_started = ::pthread_create(&thread, &attributes, &run, nullptr) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_attr_destroy(&attributes);
    return is_started;
}

}
