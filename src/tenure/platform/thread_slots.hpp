// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A pointer per thread and owner, for any number of owners that come and go: what each thread keeps of each shared
/// pool and of each heap.
///
/// The C library's keys are at most 1024, cost a call, and are not told from an earlier one in their place.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// An owner's place. The key tells it from an earlier owner in its place.
struct thread_slot {
    std::size_t index = SIZE_MAX; ///< SIZE_MAX when all places are taken: there is then no pointer for any thread
    std::uint64_t key = 0;
};

/// Called at the end of a thread that has set a pointer, on that thread, while the owner cannot be unregistered.
using slot_end_function = void (*)(void* owner, void* value) noexcept;

/// Owners at a time in a process.
constexpr std::size_t max_slots = 4096;

/// Threads   any; a lock.
[[nodiscard]] TENURE_API thread_slot register_slot(void* owner, slot_end_function function) noexcept;
/// Afterwards no thread that ends touches the owner any more.
TENURE_API void unregister_slot(thread_slot slot) noexcept;

/// Sets the calling thread's pointer. Returns   false when memory for the thread's table is refused, and where nobody
/// would be told of the thread's end: after its last round, and when the system has no slot for it. Takes a lock
/// under which no other is taken, so the caller may hold slots_mutex().
///
/// A thread that sets its first pointer in the last round of its end may still leave it behind. The owner is told of it
/// when another thread comes to lie where that one lay, which is soon: the C library keeps the stacks of ended threads.
[[nodiscard]] TENURE_API bool set_slot(thread_slot slot, void* value) noexcept;
/// Whether set_slot() may succeed on the calling thread. Cost      a load: asked before anything is made to be set.
[[nodiscard]] TENURE_API bool may_set_slot(thread_slot slot) noexcept;

/// The lock under which owners come and go.
[[nodiscard]] TENURE_API mutex& slots_mutex() noexcept;
/// Calls `visit(context, slot, owner)` for every owner with this function, the newest first: an owner that stands on
/// another is newer. Requires  the lock. Cost      O(owners x slots).
TENURE_API void for_each_slot_owner(slot_end_function function,
                                    void (*visit)(void* context, thread_slot slot, void* owner) noexcept,
                                    void* context) noexcept;

struct slot_entry {
    std::uint64_t key;
    void* value;
};
struct slot_table {
    slot_entry* entries = nullptr;
    std::size_t count = 0;
};
extern TENURE_API TENURE_THREAD_LOCAL slot_table this_thread_slots TENURE_TLS_MODEL;

/// The calling thread's pointer; null when it has set none.
[[nodiscard]] TENURE_LOCAL inline void* slot_value(const thread_slot& slot) noexcept {
    slot_table const& table = this_thread_slots;
    if (slot.index >= table.count) return nullptr;
    slot_entry const& entry = table.entries[slot.index];
    return entry.key == slot.key ? entry.value : nullptr;
}

}
