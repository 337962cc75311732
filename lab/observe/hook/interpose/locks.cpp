// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Locks and other calls in which one thread waits for another. The hook first tries the lock: a free lock costs one
/// count and no clock read, except in a no-wait scope. Where trying differs from locking (robust mutexes, invalid
/// timeouts), the real call decides. Unlocking is not intercepted.

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <cerrno>
#include <cstdio>

#include "observe/hook/interpose/observed.hpp"

using namespace tenure::lab::hook;

namespace {

// The thread that holds the lock, if the C library records it.
[[nodiscard]] std::uint32_t holder_of(const pthread_mutex_t* mutex) noexcept {
    const int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
    return owner > 0 ? static_cast<std::uint32_t>(owner) : 0;
}
[[nodiscard]] std::uint32_t holder_of(const pthread_rwlock_t* lock) noexcept {
    const int owner = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
    return owner > 0 ? static_cast<std::uint32_t>(owner) : 0;
}
[[nodiscard]] std::uint32_t holder_of(const volatile void*) noexcept { return 0; }

/// A try on a robust mutex can take a lock that the real call would not.
[[nodiscard]] bool may_try(const pthread_mutex_t* mutex) noexcept {
    constexpr int is_robust = 16; // as stored by the C library
    return (mutex->__data.__kind & is_robust) == 0;
}
[[nodiscard]] bool may_try(const volatile void*) noexcept { return true; }

/// Invalid times make the real call fail before it looks at the lock.
[[nodiscard]] bool is_time(const timespec* until) noexcept {
    constexpr long second_ns = 1'000'000'000;
    return until->tv_nsec >= 0 && until->tv_nsec < second_ns;
}
[[nodiscard]] bool is_time(clockid_t clock, const timespec* until) noexcept {
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && is_time(until);
}
[[nodiscard]] bool is_time() noexcept { return true; }

/// Makes the real call. `was_busy`: the lock was seen to be held; otherwise only a slow call counts as a wait.
template<call Which, class Object, class... Times>
[[gnu::noinline]] int wait_for_lock(const place& from, bool was_busy, Object* object, Times... times) {
    auto* const function = real<int(Object*, Times...)>(Which);
    const std::uint32_t holder = holder_of(object);
    const auto* const waited_for = const_cast<const void*>(static_cast<const volatile void*>(object));
    const std::uint64_t begin = ticks();
    note_waiting(Which, from, begin, waited_for);
    const int answer = function(object, times...);
    const std::uint64_t end = ticks();
    const bool is_taken = answer == 0 || answer == EOWNERDEAD;
    const bool is_wait = was_busy || end - begin >= chosen.slow_ticks;
    if (is_wait && (is_taken || answer == ETIMEDOUT)) {
        note_wait(Which, from, begin, end, waited_for, holder);
    } else {
        note_no_wait();
        if (is_taken) note_quick_lock(Which, from);
    }
    return answer;
}

/// For functions that return an error number.
template<call Which, call Try, class Object, class... Times>
[[gnu::always_inline]] inline int try_or_wait(const place& from, Object* object, Times... times) {
    auto* const function = real<int(Object*, Times...)>(Which);
    if (!is_active()) [[likely]]
        return function(object, times...);
    if (!may_try(object) || !is_time(times...)) return wait_for_lock<Which>(from, false, object, times...);
    const int tried = real<int(Object*)>(Try)(object);
    if (tried == 0) [[likely]] {
        note_quick_lock(Which, from);
        return tried;
    }
    return tried == EBUSY ? wait_for_lock<Which>(from, true, object, times...) : function(object, times...);
}

/// For semaphores, which return -1 and set errno.
template<call Which, class... Times>
[[gnu::always_inline]] inline int try_or_wait_semaphore(const place& from, sem_t* semaphore, Times... times) {
    auto* const function = real<int(sem_t*, Times...)>(Which);
    if (!is_active()) [[likely]]
        return function(semaphore, times...);
    ::pthread_testcancel(); // every sem_wait() is a cancellation point
    const int saved = errno;
    if (is_time(times...) && real<int(sem_t*)>(call::sem_trywait)(semaphore) == 0) {
        note_quick_lock(Which, from);
        return 0;
    }
    errno = saved;
    const noted_call<Which> note(from, 0, semaphore);
    return function(semaphore, times...);
}

}

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    return try_or_wait<call::pthread_mutex_lock, call::pthread_mutex_trylock>(here(), mutex);
}
int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
    return try_or_wait<call::pthread_mutex_timedlock, call::pthread_mutex_trylock>(here(), mutex, until);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    return try_or_wait<call::pthread_mutex_clocklock, call::pthread_mutex_trylock>(here(), mutex, clock, until);
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
    return try_or_wait<call::pthread_rwlock_rdlock, call::pthread_rwlock_tryrdlock>(here(), lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
    return try_or_wait<call::pthread_rwlock_wrlock, call::pthread_rwlock_trywrlock>(here(), lock);
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
    return try_or_wait<call::pthread_rwlock_timedrdlock, call::pthread_rwlock_tryrdlock>(here(), lock, until);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
    return try_or_wait<call::pthread_rwlock_timedwrlock, call::pthread_rwlock_trywrlock>(here(), lock, until);
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
    return try_or_wait<call::pthread_rwlock_clockrdlock, call::pthread_rwlock_tryrdlock>(here(), lock, clock, until);
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
    return try_or_wait<call::pthread_rwlock_clockwrlock, call::pthread_rwlock_trywrlock>(here(), lock, clock, until);
}

int pthread_spin_lock(pthread_spinlock_t* lock) {
    return try_or_wait<call::pthread_spin_lock, call::pthread_spin_trylock>(here(), lock);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    return observed_wait<call::pthread_cond_wait, decltype(pthread_cond_wait)>(here(), condition, condition, mutex);
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
    return observed_wait<call::pthread_cond_timedwait, decltype(pthread_cond_timedwait)>(here(), condition, condition,
                                                                                         mutex, until);
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    return observed_wait<call::pthread_cond_clockwait, decltype(pthread_cond_clockwait)>(here(), condition, condition,
                                                                                         mutex, clock, until);
}

int pthread_barrier_wait(pthread_barrier_t* barrier) {
    return observed_wait<call::pthread_barrier_wait, decltype(pthread_barrier_wait)>(here(), barrier, barrier);
}

int sem_wait(sem_t* semaphore) { return try_or_wait_semaphore<call::sem_wait>(here(), semaphore); }
int sem_timedwait(sem_t* semaphore, const timespec* until) {
    return try_or_wait_semaphore<call::sem_timedwait>(here(), semaphore, until);
}
int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
    return try_or_wait_semaphore<call::sem_clockwait>(here(), semaphore, clock, until);
}

int pthread_join(pthread_t thread, void** answer) {
    return observed<call::pthread_join, decltype(pthread_join)>(here(), thread, answer);
}
int pthread_timedjoin_np(pthread_t thread, void** answer, const timespec* until) {
    return observed<call::pthread_timedjoin_np, decltype(pthread_timedjoin_np)>(here(), thread, answer, until);
}
int pthread_clockjoin_np(pthread_t thread, void** answer, clockid_t clock, const timespec* until) {
    return observed<call::pthread_clockjoin_np, decltype(pthread_clockjoin_np)>(here(), thread, answer, clock, until);
}

// The C library's <threads.h> functions do not call the functions above.
int mtx_lock(mtx_t* mutex) {
    auto* const function = real<decltype(mtx_lock)>(call::mtx_lock);
    if (!is_active()) [[likely]]
        return function(mutex);
    if (real<decltype(mtx_trylock)>(call::mtx_trylock)(mutex) == thrd_success) {
        note_quick_lock(call::mtx_lock, here());
        return thrd_success;
    }
    const noted_call<call::mtx_lock> note(here(), 0, mutex);
    return function(mutex);
}
int mtx_timedlock(mtx_t* mutex, const timespec* until) {
    auto* const function = real<decltype(mtx_timedlock)>(call::mtx_timedlock);
    if (!is_active()) [[likely]]
        return function(mutex, until);
    if (is_time(until) && real<decltype(mtx_trylock)>(call::mtx_trylock)(mutex) == thrd_success) {
        note_quick_lock(call::mtx_timedlock, here());
        return thrd_success;
    }
    const noted_call<call::mtx_timedlock> note(here(), 0, mutex);
    return function(mutex, until);
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return observed_wait<call::cnd_wait, decltype(cnd_wait)>(here(), condition, condition, mutex);
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
    return observed_wait<call::cnd_timedwait, decltype(cnd_timedwait)>(here(), condition, condition, mutex, until);
}
int thrd_join(thrd_t thread, int* answer) {
    return observed<call::thrd_join, decltype(thrd_join)>(here(), thread, answer);
}

void flockfile(FILE* file) {
    auto* const function = real<decltype(flockfile)>(call::flockfile);
    if (!is_active()) [[likely]]
        return function(file);
    if (::ftrylockfile(file) == 0) return note_quick_lock(call::flockfile, here());
    const noted_call<call::flockfile> note(here(), 0, file);
    function(file);
}

/// Two threads reach a function's static for the first time. An initialised static never comes here, and the thread
/// that initialises it waits for nobody.
int __cxa_guard_acquire(void* guard) {
    auto* const function = real<int(void*)>(call::guard_acquire);
    if (!is_active()) [[likely]]
        return function(guard);
    const std::uint64_t begin = ticks();
    const std::uint32_t active = this_thread.active;
    this_thread.active = 0; // the real function waits with a futex
    note_waiting(call::guard_acquire, here(), begin, guard);
    const int is_ours = function(guard);
    this_thread.active = active;
    if (is_ours != 0 && ticks() - begin < chosen.slow_ticks)
        note_no_wait();
    else
        note_wait(call::guard_acquire, here(), begin, ticks(), guard, 0);
    return is_ours;
}
}
