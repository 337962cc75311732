// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Thread slots: one pointer per thread and owner, for any number of owners created and destroyed at run time. Shared
/// pools and heaps keep their thread caches in them.
///
/// pthread keys do not suffice: there are at most 1024, each access is a call, and a reused key looks like the old one.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// An owner's slot. The key distinguishes it from earlier owners with the same index.
struct thread_slot {
    std::size_t index = SIZE_MAX; ///< SIZE_MAX when all slots are taken: no thread then has a pointer
    std::uint64_t key = 0;
};

/// Called when a thread that has set a pointer ends, on that thread. The owner cannot be unregistered meanwhile.
using slot_end_function = void (*)(void* owner, void* value) noexcept;

/// Maximum number of owners in a process at one time.
constexpr std::size_t max_slots = 4096;

/// Threads   any; takes a lock.
[[nodiscard]] TENURE_API thread_slot register_slot(void* owner, slot_end_function function) noexcept;
/// After this call no ending thread touches the owner.
TENURE_API void unregister_slot(thread_slot slot) noexcept;

/// A slot and its owner from now on.
struct slot_of_owner {
    thread_slot slot;
    void* owner;
};
/// Gives two slots other owners, and calls `exchange(context)` while neither a fork nor the end of a thread can reach
/// them: two objects exchange their contents, and with them the pointers of their threads. It must take no lock.
TENURE_API void exchange_slot_owners(const slot_of_owner& left, const slot_of_owner& right,
                                     void (*exchange)(void* context) noexcept, void* context) noexcept;

/// Sets the calling thread's pointer. Returns   false when there is no memory for the thread's table, and when the end
/// of the thread would go unnoticed: after its last round of destructors, or without a slot of the system. Takes a lock
/// under which no other lock is taken, so the caller may hold slots_mutex().
///
/// A thread that sets its first pointer in the last round of its end may still abandon it. The owner learns of it when
/// another thread gets the same address for its thread-local state, which is soon: the C library reuses stacks.
[[nodiscard]] TENURE_API bool set_slot(thread_slot slot, void* value) noexcept;
/// Whether set_slot() may succeed on the calling thread. Cost      a load: call it before creating the value.
[[nodiscard]] TENURE_API bool may_set_slot(thread_slot slot) noexcept;

/// The lock under which owners are registered and unregistered.
[[nodiscard]] TENURE_API mutex& slots_mutex() noexcept;
/// Calls `visit(context, slot, owner)` for every owner with this function, newest first: an owner that uses another is
/// newer. Requires  slots_mutex() is held. Cost      O(owners x slots).
TENURE_API void for_each_slot_owner(slot_end_function function,
                                    void (*visit)(void* context, thread_slot slot, void* owner) noexcept,
                                    void* context) noexcept;

/// The same without a lock during each visit: meanwhile the owner that is visited waits in unregister_slot(). Owners
/// that are registered or unregistered during the call may be visited or not.
TENURE_API void visit_slot_owners(slot_end_function function, void (*visit)(void* context, void* owner) noexcept,
                                  void* context) noexcept;

/// Where the owners are, for debuggers: heap/detail/debug_layout.hpp.
struct owner_list {
    const void* first;
    const std::size_t* past_last; ///< number of entries that were ever used
    std::uint32_t entry_bytes;
    std::uint32_t owner_offset, function_offset; ///< in an entry
};
extern const owner_list list_of_owners;

struct slot_entry {
    std::uint64_t key;
    void* value;
};
struct slot_table {
    slot_entry* entries = nullptr;
    std::size_t count = 0;
};
TENURE_DECLARE_THREAD_LOCAL(slot_table, this_thread_slots)

/// The calling thread's pointer; nullptr when it has set none.
[[nodiscard]] TENURE_LOCAL inline void* slot_value(const thread_slot& slot) noexcept {
    const slot_table& table = this_thread_slots();
    if (slot.index >= table.count) return nullptr;
    const slot_entry& entry = table.entries[slot.index];
    return entry.key == slot.key ? entry.value : nullptr;
}

}
