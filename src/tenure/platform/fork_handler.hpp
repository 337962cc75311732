// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What takes part in a fork: the locks of the library, in one order.
///
/// fork() copies the thread that calls it and no other. A lock that another thread holds stays taken in the child for
/// ever, and what it guards may be half written. So a fork takes every lock first, and gives them back in the parent
/// and in the child. In the child each participant also takes over, or forgets, what belonged to threads that are gone.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// The order in which a fork takes locks. Code that holds one may take another of a later place, and none of an earlier
/// one. A fork takes what is listed first here last back.
enum class fork_order : std::uint8_t {
    open_files, ///< the C library's, where the library is the process's malloc
    background, ///< no lock: threads of the library's own, which the child starts when all locks are free
    making,     ///< making_mutex()
    slots,      ///< slots_mutex()
    lifetimes,  ///< of the registry of threads, then of each thread's TempJob, of its single blocks, of the chunks
    /// Of heaps, shared pools, shared groups and handle tables, the newest first: one that stands on another is newer.
    objects,
    process_heap, ///< of the heap that any other may stand on
    leaf,         ///< under which no other is taken
};
constexpr std::size_t fork_orders = 8;

/// What a participant does on the thread that forks.
struct fork_steps {
    void (*before)(void* owner) noexcept;    ///< takes its locks
    void (*in_parent)(void* owner) noexcept; ///< gives them back
    void (*in_child)(void* owner) noexcept;  ///< frees them: the child has this one thread. Takes no other lock
};

/// A member of what has locks: 40 bytes, no destructor, because objects of static duration are used to the last.
///
/// A process of one thread takes no locks at a fork: nobody else holds one then, and a signal handler that forks may
/// have interrupted whoever does, which goes on in both processes. No step is called then.
class TENURE_API fork_handler {
public:
    constexpr fork_handler(fork_order order, void* owner, const fork_steps& steps) noexcept
        : order_(order), owner_(owner), steps_(&steps) {}
    fork_handler(const fork_handler&) = delete;
    fork_handler& operator=(const fork_handler&) = delete;

    /// From now on forks call its steps. Once counts: it may be called again.
    /// Requires  the caller holds no lock that comes after `lifetimes`; nobody has taken the participant's locks yet.
    TENURE_LOCAL void enlist() noexcept {
        if (!is_listed_.load(std::memory_order_acquire)) enlist_slow();
    }
    /// Before the owner is destroyed. Participants of another place than fork_order::objects stay for ever.
    void delist() noexcept;

private:
    friend struct fork_handlers;
    void enlist_slow() noexcept;

    fork_handler* next_ = nullptr;
    fork_handler* previous_ = nullptr;
    fork_order order_;
    bool is_taken_ = false; ///< between the steps of a fork
    std::atomic<bool> is_listed_{false};
    void* owner_;
    const fork_steps* steps_;
};
static_assert(sizeof(fork_handler) == 5 * sizeof(void*) && std::is_trivially_destructible_v<fork_handler>);

/// The lock under which the library makes what it makes at its first use: ready-made groups, the pools of small
/// objects, the heap of a group.
[[nodiscard]] TENURE_API mutex& making_mutex() noexcept;

/// The steps of what has one lock: Lock is a function that returns it, given the owner.
template<auto Lock>
constexpr fork_steps steps_of_lock{
    [](void* owner) noexcept { Lock(owner).lock(); },
    [](void* owner) noexcept { Lock(owner).unlock(); },
    [](void* owner) noexcept { Lock(owner).abandon(); },
};

/// Asks the system to be told of forks, unless it was asked. Said again by whoever begins to use a lock, because the
/// system may have had no memory for it.
TENURE_API void hear_of_forks() noexcept;

}
