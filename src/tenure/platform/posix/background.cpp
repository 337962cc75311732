// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/background.hpp>

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include <tenure/platform/clock.hpp>
#include <tenure/platform/no_cancel.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/symbol.hpp>
#include <tenure/platform/thread.hpp>

// Of this module, by the linker; a static executable has none.
extern __attribute__((weak, visibility("hidden"))) ElfW(Dyn) _DYNAMIC[]; // NOLINT: declared in <link.h>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t stack_bytes = std::size_t{64} * 1024; // for the sweeps
constexpr std::size_t unknown_bytes = 4 * stack_bytes;      // for thread-local variables of unknown size
constexpr std::size_t most_stack_bytes = std::size_t{16} << 20;

using background_function = void (*)() noexcept;

struct own_thread_state {
    // Written by the thread that starts it, after it has joined the previous one, and in the child of a fork.
    background_function function = nullptr;
    pthread_t id{};
    bool is_joinable = false;
    // Sequentially consistent: each changes once in the life of the thread. A fork reads the phase, which guards
    // nothing.
    std::atomic<background_phase> phase{background_phase::none};
    std::atomic<std::uint64_t> ended_at_ns{0};
    std::atomic<bool> is_stopped{false}; ///< once true, it stays true: nothing can start a thread
    pthread_mutex_t mutex{};             ///< for `wake`
    pthread_cond_t wake{};
};
constinit own_thread_state own{};

void* run(void*) noexcept {
    ::pthread_setname_np(::pthread_self(), "tenure");
    use_processors_of_main_thread();
    own.phase.store(background_phase::running);
    own.function();
    own.ended_at_ns.store(coarse_ns());
    own.phase.store(background_phase::passing);
    return nullptr;
}

[[nodiscard]] int create(const pthread_attr_t& attributes) noexcept {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // the new thread inherits it
    const int error = ::pthread_create(&own.id, &attributes, &run, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

/// A real-time thread may start the background thread, which must not take time from others.
void use_ordinary_priority(pthread_attr_t& attributes) noexcept {
    if (::sched_getscheduler(0) == SCHED_OTHER) return; // inherited: an explicit choice costs system calls
    const sched_param none{};
    ::pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    ::pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    ::pthread_attr_setschedparam(&attributes, &none);
}

/// Of the program's own file, which is all of a static one.
[[nodiscard]] std::size_t thread_local_bytes_of_program() noexcept {
    const auto* const parts = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
    const std::size_t count = parts != nullptr ? ::getauxval(AT_PHNUM) : 0;
    for (std::size_t index = 0; index < count; ++index) {
        if (parts[index].p_type == PT_TLS) return parts[index].p_memsz;
    }
    return 0;
}

[[nodiscard]] int create_with_stack(pthread_attr_t& attributes) noexcept {
    // Of glibc, declared in no header: the smallest stack that leaves room for the thread-local variables of the
    // program, which lie on it. Other C libraries lack it, and in a static program it cannot be looked up; such a
    // program says itself how large its variables are. Not looked up by dlsym(), which waits for the loader's lock.
    using least_stack_function = std::size_t (*)(const pthread_attr_t*);
    const auto least_stack = reinterpret_cast<least_stack_function>(symbol_of_c_library("__pthread_get_minstack"));
    const std::size_t least =
        least_stack != nullptr ? least_stack(&attributes) : unknown_bytes + thread_local_bytes_of_program();
    int error = EINVAL; // by pthread_create: the thread-local variables take more
    for (std::size_t bytes = least + stack_bytes; error == EINVAL && bytes <= most_stack_bytes + least; bytes *= 4) {
        error = ::pthread_attr_setstacksize(&attributes, bytes);
        if (error == 0) error = create(attributes);
    }
    return error;
}

/// For pthread_cond_timedwait, against the monotonic clock.
void prepare_wake() noexcept {
    ::pthread_mutex_init(&own.mutex, nullptr);
    pthread_condattr_t how;
    ::pthread_condattr_init(&how);
    ::pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    ::pthread_cond_init(&own.wake, &how);
    ::pthread_condattr_destroy(&how);
}

[[nodiscard]] timespec time_after(clockid_t clock, std::uint64_t time_ns) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    timespec at{};
    ::clock_gettime(clock, &at);
    const std::uint64_t ns = static_cast<std::uint64_t>(at.tv_nsec) + time_ns;
    at.tv_sec += static_cast<time_t>(ns / second);
    at.tv_nsec = static_cast<long>(ns % second);
    return at;
}

// When a plug-in with a static copy is unloaded, the thread must not go on in code that is gone. The caller holds the
// loader's lock. The thread needs it only if a block source of the plug-in does, so there is a limit to the wait. It
// does not come back for the destructors of static objects, which run later.
__attribute__((destructor)) void stop_when_unloaded() noexcept {
    constexpr std::uint64_t longest_ns = 10'000'000'000;
    if (!is_unloadable()) return; // the process ends: nothing waits
    const no_cancel_scope scope;
    own.is_stopped.store(true);
    if (!own.is_joinable) return;
    ::pthread_mutex_lock(&own.mutex); // the thread is before its look at is_stopped, or it sleeps
    ::pthread_cond_signal(&own.wake);
    ::pthread_mutex_unlock(&own.mutex);
    const timespec until = time_after(CLOCK_REALTIME, longest_ns);
    ::pthread_timedjoin_np(own.id, nullptr, &until);
    own.is_joinable = false;
}

}

bool is_unloadable() noexcept {
    if (_DYNAMIC == nullptr) return false;
    for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_DEBUG) return false; // only programs have it
        if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE) != 0) return false;
    }
    return true;
}

background_start start_background(background_function function) noexcept {
    if (own.is_stopped.load()) return background_start::impossible;
    const no_cancel_scope scope; // pthread_join is a cancellation point
    if (own.is_joinable) ::pthread_join(own.id, nullptr);
    own.is_joinable = false;
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return background_start::refused;
    // ThreadSanitizer would report an ended thread that nobody joins as a leak.
    const bool is_detached = is_under_thread_sanitizer();
    if (is_detached) ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    use_ordinary_priority(attributes);
    own.function = function;
    prepare_wake();
    own.ended_at_ns.store(UINT64_MAX);
    own.phase.store(background_phase::passing);
    const int error = create_with_stack(attributes);
    ::pthread_attr_destroy(&attributes);
    own.is_joinable = error == 0 && !is_detached;
    if (error == 0) return background_start::started;
    own.phase.store(background_phase::none);
    return error == EAGAIN || error == ENOMEM ? background_start::refused : background_start::impossible;
}

bool sleep_in_background(std::uint64_t time_ns) noexcept {
    const timespec until = time_after(CLOCK_MONOTONIC, time_ns);
    ::pthread_mutex_lock(&own.mutex);
    while (!own.is_stopped.load() && ::pthread_cond_timedwait(&own.wake, &own.mutex, &until) == 0) {}
    ::pthread_mutex_unlock(&own.mutex);
    return !own.is_stopped.load();
}

bool is_background_stopped() noexcept { return own.is_stopped.load(std::memory_order_relaxed); }

background_phase phase_of_background() noexcept {
    constexpr std::uint64_t longest_end_ns = 100'000'000;
    const background_phase phase = own.phase.load();
    if (phase != background_phase::passing) return phase;
    const std::uint64_t ended = own.ended_at_ns.load();
    return ended == UINT64_MAX || coarse_ns() - ended < longest_end_ns ? phase : background_phase::none;
}

void forget_background() noexcept {
    own.is_joinable = false;
    own.phase.store(background_phase::none);
}

}
