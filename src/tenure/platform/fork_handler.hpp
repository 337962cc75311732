// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Fork handlers: they take the library's locks in one fixed order around a fork.
///
/// fork() copies only the calling thread. A lock held by another thread would stay locked in the child for ever, and
/// the data that it guards may be half written. So a fork first takes every lock and then releases them in the parent
/// and in the child. In the child, each handler also adopts or discards what belonged to the other threads.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/platform/background.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The order in which a fork takes locks (it releases them in reverse). Under a lock, take only locks of later places.
enum class fork_order : std::uint8_t {
    open_files,   ///< the C library's lock, where the library is the process's malloc
    making,       ///< making_mutex()
    thread_slots, ///< slots_mutex()
    lifetimes,    ///< the registry of threads, then each thread's TempJob, its single blocks, the chunks
    /// Heaps, shared pools, shared groups and handle tables, newest first: an object that uses another is newer.
    objects,
    process_heap, ///< the heap that any other object may use
    leaf,         ///< no other lock is taken under these
};
constexpr std::size_t fork_orders = 7;

/// The steps of one handler, called on the forking thread.
struct fork_steps {
    void (*before)(void* owner) noexcept;    ///< takes the handler's locks
    void (*in_parent)(void* owner) noexcept; ///< releases them
    void (*in_child)(void* owner) noexcept;  ///< frees them: the child has only this thread. Must take no other lock
    /// Whether the calling thread holds one of the locks, which a signal handler has interrupted; nullptr: it never
    /// does. Takes no lock. Called while no other thread of the program exists.
    bool (*is_interrupted)(void* owner) noexcept;
};

/// A member of every object that has locks. 40 bytes, without a destructor: objects of static duration may be used
/// until the end of the process.
///
/// A single-threaded process takes no locks at a fork and calls no steps: no other thread can hold a lock. If a signal
/// handler forks, it may have interrupted the holder, which continues in both processes. The same holds if the only
/// other thread is the library's own, which pauses: see own_thread.
class TENURE_API fork_handler {
public:
    constexpr fork_handler(fork_order order, void* owner, const fork_steps& steps) noexcept
        : order_(order), owner_(owner), steps_(&steps) {}
    fork_handler(const fork_handler&) = delete;
    fork_handler& operator=(const fork_handler&) = delete;

    /// Registers the handler: forks call its steps from now on. Further calls do nothing.
    /// Requires  the caller holds no lock that comes after `lifetimes`; no thread has taken the handler's locks yet.
    TENURE_LOCAL void enlist() noexcept {
        if (!is_listed_.load(detail::memory_order::acquire)) enlist_slow();
    }
    /// Call it before the owner is destroyed. Only handlers of fork_order::objects can be removed.
    void delist() noexcept;

private:
    friend struct fork_handlers;
    void enlist_slow() noexcept;

    fork_handler* next_ = nullptr;
    fork_handler* previous_ = nullptr;
    fork_order order_;
    bool is_taken_ = false;                 ///< true between the steps of a fork
    detail::atomic<bool> is_listed_{false}; // released once the handler is in the list, acquired by enlist()
    void* owner_;
    const fork_steps* steps_;
};
static_assert(sizeof(fork_handler) == 5 * sizeof(void*) && std::is_trivially_destructible_v<fork_handler>);

/// Guards objects that the library creates at first use: ready-made groups, pools of small objects, a group's heap.
[[nodiscard]] TENURE_API mutex& making_mutex() noexcept;

/// The steps for an object with one lock. Lock is a function that returns the lock of an owner.
template<auto Lock>
constexpr fork_steps steps_of_lock{
    [](void* owner) noexcept { Lock(owner).lock(); },
    [](void* owner) noexcept { Lock(owner).unlock(); },
    [](void* owner) noexcept { Lock(owner).abandon(); },
    [](void* owner) noexcept { return Lock(owner).is_mine(); },
};

/// The library's own thread. While it pauses it holds no lock and changes nothing, so a program that has no other
/// thread counts as single-threaded. It may fail to pause soon, because it works, or because it waits for a lock whose
/// holder a signal handler has interrupted. In the second case the child frees the locks that the library's thread
/// held.
struct own_thread {
    background_phase (*phase)() noexcept;
    bool (*try_pause)() noexcept; ///< does not wait; the thread also pauses before it starts
    void (*go_on)() noexcept;
    void (*forget)() noexcept; ///< in the child, which does not have the thread
};
void set_own_thread(const own_thread& thread) noexcept;

/// Registers a function that each child of a fork calls first, also if the process had one thread. It takes no lock.
void call_first_in_child(void (*function)() noexcept) noexcept;

/// Registers the fork hooks with the system, unless that is done. Code that starts to use a lock calls it again,
/// because an earlier attempt may have run out of memory.
TENURE_API void hear_of_forks() noexcept;

}
