// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread_slots.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::platform {

TENURE_THREAD_LOCAL slot_table this_thread_slots{};

namespace {

struct slot_owner {
    void* owner;
    slot_end_function function;
    std::uint64_t key;
    std::size_t calls; ///< of the function that are under way
};

struct slot_registry {
    mutex lock; ///< taken before any lock of an owner's
    std::uint64_t last_key = 0;
    std::size_t first_free = 0; ///< no place below is free
    std::size_t past_last = 0;  ///< no place from here on was ever taken: each fork looks at all that were
    slot_owner owners[max_slots]{};
};
constinit slot_registry registry{};

std::size_t table_bytes(std::size_t entries) noexcept { return align_up(entries * sizeof(slot_entry), page_bytes()); }

TENURE_THREAD_LOCAL std::size_t rounds_of_end = 0;

/// Null when the owner has gone.
slot_owner* begin_call(std::size_t index, std::uint64_t key) noexcept {
    lock_guard const lock(registry.lock);
    slot_owner& owner = registry.owners[index];
    if (owner.key != key) return nullptr;
    ++owner.calls;
    return &owner;
}

/// Hands what the ending thread has set to the owners that are still there.
void end_of_thread() noexcept {
    if (++rounds_of_end < thread_end_rounds()) at_thread_end(&end_of_thread);
    slot_table const table = this_thread_slots;
    this_thread_slots = {};
    if (table.entries == nullptr) return;
    // Without the lock, because the function may report, and whoever hears of it may ask for anything; an owner that
    // goes waits until the call is over.
    for (std::size_t index = 0; index < std::min(table.count, max_slots); ++index) {
        slot_entry const& entry = table.entries[index];
        if (entry.key == 0) continue;
        slot_owner* const owner = begin_call(index, entry.key);
        if (owner == nullptr) continue;
        owner->function(owner->owner, entry.value);
        lock_guard const lock(registry.lock);
        --owner->calls;
    }
    unreserve(table.entries, table_bytes(table.count));
}

}

thread_slot register_slot(void* owner, slot_end_function function) noexcept {
    lock_guard const lock(registry.lock);
    // Keys of two copies of the library in one process must not be taken for each other.
    if (registry.last_key == 0) registry.last_key = static_cast<std::uint64_t>(address_of(&registry)) << 16;
    for (std::size_t index = registry.first_free; index < max_slots; ++index) {
        if (registry.owners[index].key != 0) continue;
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
            lock_guard const lock(registry.lock);
            if (registry.owners[slot.index].calls == 0) {
                registry.owners[slot.index] = {};
                registry.first_free = std::min(registry.first_free, slot.index);
                return;
            }
        }
        sleep_ns(1000); // a thread's end takes microseconds
    }
}

bool set_slot(thread_slot slot, void* value) noexcept {
    bool const is_over = rounds_of_end >= thread_end_rounds();
    if (slot.index == SIZE_MAX || is_over) return false;
    slot_table& table = this_thread_slots;
    if (slot.index >= table.count) {
        std::size_t const bytes = table_bytes(std::max(slot.index + 1, 2 * table.count));
        void* const memory = map(bytes, cache_line_bytes);
        if (memory == nullptr) return false;
        auto* const entries = static_cast<slot_entry*>(memory); // pages come zeroed: every key is 0
        if (table.count != 0) {
            std::memcpy(entries, table.entries, table.count * sizeof(slot_entry));
            unreserve(table.entries, table_bytes(table.count));
        }
        table = {entries, bytes / sizeof(slot_entry)};
        at_thread_end(&end_of_thread);
    }
    table.entries[slot.index] = {slot.key, value};
    return true;
}

mutex& slots_mutex() noexcept { return registry.lock; }

void abandon_slots() noexcept {
    for (slot_owner& each : registry.owners) each.calls = 0; // of threads that are gone
    registry.lock.abandon();
}

void for_each_slot_owner(slot_end_function function,
                         void (*visit)(void* context, thread_slot slot, void* owner) noexcept, void* context) noexcept {
    for (std::uint64_t below = UINT64_MAX;;) {
        std::size_t newest = max_slots;
        std::uint64_t key = 0;
        for (std::size_t index = 0; index < registry.past_last; ++index) {
            slot_owner const& each = registry.owners[index];
            if (each.function != function || each.key <= key || each.key >= below) continue;
            newest = index;
            key = each.key;
        }
        if (newest == max_slots) return;
        visit(context, {newest, key}, registry.owners[newest].owner);
        below = key;
    }
}

}
