// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread_slots.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/platform/by_thread.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::platform {

TENURE_DEFINE_THREAD_LOCAL(slot_table, this_thread_slots)

namespace {

struct slot_owner {
    void* owner;
    slot_end_function function;
    std::uint64_t key;
    std::size_t calls; ///< calls of the function in progress
};

/// Precedes a thread's entries.
struct table_head {
    table_head* next_by_thread;
    table_head* previous_by_thread;
    const void* thread; ///< address of the thread's local state: unique among live threads
    std::size_t count;  ///< of entries
};
static_assert(sizeof(table_head) % alignof(slot_entry) == 0);

// Threads take `lock` alone to set a pointer and when they end, possibly while they hold any other lock of the library:
// a heap's statistics are visited under `owners_lock`, and a source of TempJob may be a heap. No other lock is taken
// under `lock`.
struct slot_registry {
    mutex owners_lock;            ///< taken before `lock`
    mutex lock;                   ///< guards tables and calls; owners change under both locks
    by_thread<table_head> tables; ///< of live threads, and abandoned ones
    std::uint64_t last_key = 0;
    std::size_t first_free = 0; ///< no free slot is below this
    std::size_t past_last = 0;  ///< no slot from here on was ever used; each fork visits all slots below
    slot_owner owners[max_slots]{};
};
TENURE_BEHIND_OTHERS(9) constinit slot_registry registry{};

}

constinit const owner_list list_of_owners{&registry.owners, &registry.past_last, sizeof(slot_owner),
                                          offsetof(slot_owner, owner), offsetof(slot_owner, function)};

namespace {

/// A call of an owner's function on the calling thread. Calls may nest.
struct call_of_owner {
    slot_owner* owner;
    call_of_owner* outer;
};
TENURE_OWN_THREAD_LOCAL(call_of_owner*, innermost_call)

constexpr fork_steps steps_of_tables{
    [](void*) noexcept { registry.lock.lock(); },
    [](void*) noexcept { registry.lock.unlock(); },
    [](void*) noexcept {
        registry.lock.abandon();
        if (registry.lock.is_mine()) return; // a signal handler has forked that interrupted its holder, which goes on
        for (std::size_t index = 0; index < registry.past_last; ++index) { // calls of threads that do not exist here
            std::size_t& calls = registry.owners[index].calls;
            if (calls != 0) calls = 0; // written only if needed: untouched pages stay shared with the parent
        }
        for (const call_of_owner* each = innermost_call(); each != nullptr; each = each->outer) ++each->owner->calls;
        // The owners have adopted what was set in the tables of other threads.
        registry.tables.keep_only(&this_thread_slots());
    },
    [](void*) noexcept { return registry.lock.is_mine(); },
};
constexpr fork_steps steps_of_owners = steps_of_lock<[](void*) noexcept -> mutex& { return registry.owners_lock; }>;
constinit fork_handler of_owners{fork_order::thread_slots, nullptr, steps_of_owners};
constinit fork_handler of_tables{fork_order::leaf, nullptr, steps_of_tables};
TENURE_AT_LOAD(register_handler_of_slots) {
    of_owners.enlist();
    of_tables.enlist();
}

std::size_t table_bytes(std::size_t entries) noexcept {
    return align_up(sizeof(table_head) + entries * sizeof(slot_entry), page_bytes());
}

slot_entry* entries_of(table_head* head) noexcept {
    return static_cast<slot_entry*>(static_cast<void*>(head + 1)); // pages come zeroed: every key is 0
}
table_head* head_of(const slot_table& table) noexcept {
    return static_cast<table_head*>(static_cast<void*>(table.entries)) - 1;
}

TENURE_OWN_THREAD_LOCAL(std::size_t, rounds_of_end)

[[nodiscard]] bool is_over() noexcept { return rounds_of_end() >= thread_end_rounds(); }

/// Returns   false when the owner no longer exists.
[[nodiscard]] bool begin_call(call_of_owner& call, std::size_t index, std::uint64_t key) noexcept {
    const lock_guard lock(registry.lock);
    slot_owner& owner = registry.owners[index];
    if (owner.key != key) return false;
    ++owner.calls;
    call.owner = &owner;
    innermost_call() = &call;
    return true;
}

void end_call(const call_of_owner& call) noexcept {
    const lock_guard lock(registry.lock);
    innermost_call() = call.outer;
    --call.owner->calls;
}

/// Passes the values that an ended thread has set to the owners that still exist. Requires  the table is in no list.
void tell_owners(table_head* table) noexcept {
    // Called without the lock: the function may report, and the report handler may call anything. An owner that is
    // being unregistered waits until the call is over.
    for (std::size_t index = 0; index < std::min(table->count, max_slots); ++index) {
        const slot_entry& entry = entries_of(table)[index];
        if (entry.key == 0) continue;
        call_of_owner call{nullptr, innermost_call()};
        if (!begin_call(call, index, entry.key)) continue;
        call.owner->function(call.owner->owner, entry.value);
        end_call(call);
    }
    unreserve(table, table_bytes(table->count));
}

void end_of_thread() noexcept {
    if (++rounds_of_end() < thread_end_rounds()) at_thread_end(&end_of_thread);
    const slot_table table = this_thread_slots();
    this_thread_slots() = {};
    if (table.entries == nullptr) return;
    {
        const lock_guard lock(registry.lock);
        registry.tables.remove(*head_of(table));
    }
    tell_owners(head_of(table));
}

/// The table that an earlier thread abandoned at the address where the calling thread, which has no table, is now;
/// nullptr when there is none.
[[nodiscard]] table_head* take_left_behind() noexcept {
    const lock_guard lock(registry.lock);
    table_head* const left = registry.tables.find(&this_thread_slots());
    if (left != nullptr) registry.tables.remove(*left);
    return left;
}

/// Makes room for the index in the thread's table and keeps the values set so far. Returns   false when out of memory.
[[nodiscard]] bool grow_table(std::size_t index) noexcept {
    slot_table& table = this_thread_slots();
    const std::size_t bytes = table_bytes(std::max(index + 1, 2 * table.count));
    void* const memory = map(bytes, cache_line_bytes);
    if (memory == nullptr) return false;
    const std::size_t count = (bytes - sizeof(table_head)) / sizeof(slot_entry);
    auto* const head = new (memory) table_head{nullptr, nullptr, &this_thread_slots(), count};
    table_head* const before = table.entries != nullptr ? head_of(table) : nullptr;
    {
        const lock_guard lock(registry.lock);
        if (before != nullptr) {
            std::memcpy(entries_of(head), table.entries, table.count * sizeof(slot_entry));
            registry.tables.remove(*before);
        }
        registry.tables.add(*head);
    }
    table = {entries_of(head), count};
    if (before != nullptr) unreserve(before, table_bytes(before->count));
    return true;
}

}

thread_slot register_slot(void* owner, slot_end_function function) noexcept {
    const lock_guard lock(registry.owners_lock);
    // Different start values keep the keys of two copies of the library in one process apart.
    if (registry.last_key == 0) registry.last_key = static_cast<std::uint64_t>(address_of(&registry)) << 16;
    for (std::size_t index = registry.first_free; index < max_slots; ++index) {
        if (registry.owners[index].key != 0) continue;
        const lock_guard change(registry.lock);
        registry.owners[index] = {owner, function, ++registry.last_key, 0};
        registry.first_free = index + 1;
        registry.past_last = std::max(registry.past_last, index + 1);
        return {index, registry.last_key};
    }
    registry.first_free = max_slots;
    return {};
}

void unregister_slot(thread_slot slot) noexcept {
    if (slot.index == SIZE_MAX) return;
    for (;;) {
        {
            const lock_guard lock(registry.owners_lock);
            const lock_guard change(registry.lock);
            if (registry.owners[slot.index].calls == 0) {
                registry.owners[slot.index] = {};
                registry.first_free = std::min(registry.first_free, slot.index);
                return;
            }
        }
        sleep_ns(1000); // a thread's end takes microseconds
    }
}

void exchange_slot_owners(const slot_of_owner& left, const slot_of_owner& right,
                          void (*exchange)(void* context) noexcept, void* context) noexcept {
    const auto is_called = [](thread_slot slot) {
        return slot.index != SIZE_MAX && registry.owners[slot.index].calls != 0;
    };
    for (;;) {
        {
            const lock_guard lock(registry.owners_lock);
            const lock_guard change(registry.lock);
            if (!is_called(left.slot) && !is_called(right.slot)) {
                for (const slot_of_owner* each : {&left, &right})
                    if (each->slot.index != SIZE_MAX) registry.owners[each->slot.index].owner = each->owner;
                exchange(context);
                return;
            }
        }
        sleep_ns(1000); // a thread's end takes microseconds
    }
}

bool may_set_slot(thread_slot slot) noexcept { return slot.index != SIZE_MAX && !is_over(); }

bool set_slot(thread_slot slot, void* value) noexcept {
    if (!may_set_slot(slot)) return false;
    if (this_thread_slots().entries == nullptr) {
        if (!at_thread_end(&end_of_thread)) {
            // All slots of the system are taken: stop trying on this thread.
            if (!has_end_slot(&end_of_thread)) rounds_of_end() = thread_end_rounds();
            return false;
        }
        if (table_head* const left = take_left_behind(); left != nullptr) tell_owners(left);
    }
    if (slot.index >= this_thread_slots().count && !grow_table(slot.index)) return false;
    this_thread_slots().entries[slot.index] = {slot.key, value};
    return true;
}

mutex& slots_mutex() noexcept { return registry.owners_lock; }

namespace {

/// The newest owner with this function and a key below `below`; max_slots if there is none.
/// Requires  owners_lock.
[[nodiscard]] std::size_t newest_owner(slot_end_function function, std::uint64_t below) noexcept {
    std::size_t newest = max_slots;
    std::uint64_t key = 0;
    for (std::size_t index = 0; index < registry.past_last; ++index) {
        const slot_owner& each = registry.owners[index];
        if (each.function != function || each.key <= key || each.key >= below) continue;
        newest = index;
        key = each.key;
    }
    return newest;
}

}

void for_each_slot_owner(slot_end_function function,
                         void (*visit)(void* context, thread_slot slot, void* owner) noexcept, void* context) noexcept {
    for (std::uint64_t below = UINT64_MAX;;) {
        const std::size_t newest = newest_owner(function, below);
        if (newest == max_slots) return;
        below = registry.owners[newest].key;
        visit(context, {newest, below}, registry.owners[newest].owner);
    }
}

void visit_slot_owners(slot_end_function function, void (*visit)(void* context, void* owner) noexcept,
                       void* context) noexcept {
    for (std::uint64_t below = UINT64_MAX;;) {
        call_of_owner call{nullptr, innermost_call()};
        {
            const lock_guard lock(registry.owners_lock);
            const std::size_t newest = newest_owner(function, below);
            if (newest == max_slots) return;
            below = registry.owners[newest].key;
            if (!begin_call(call, newest, below)) continue;
        }
        visit(context, call.owner->owner);
        end_call(call);
    }
}

}
