// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/detail/handle_holders.hpp>

#include <atomic>
#include <cstddef>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct holder {
    static constexpr std::size_t max_frames = 10;
    holder* next;
    const handle_table* table;
    std::uint32_t entry, generation;
    std::uint64_t thread;
    std::size_t frame_count;
    void* frames[max_frames];
};

constexpr std::size_t list_count = 256;
constexpr std::size_t block_bytes = std::size_t{64} * 1024;

struct all_holders {
    platform::mutex mutex;
    holder* lists[list_count];
    holder* unused;
};
constinit all_holders all{};

[[nodiscard]] holder*& list_of(const handle& which) noexcept { return all.lists[which.entry % list_count]; }

[[nodiscard]] bool is_of(const holder& each, const handle_table& table, const handle& which) noexcept {
    return each.table == &table && each.entry == which.entry && each.generation == which.generation;
}

[[nodiscard]] holder* allocate_holder() noexcept {
    if (all.unused == nullptr) {
        auto* const block = static_cast<holder*>(platform::map(block_bytes, 1));
        if (block == nullptr) return nullptr; // the handle is held without a record of its holder
        for (std::size_t index = 0; index < block_bytes / sizeof(holder); ++index) {
            block[index].next = all.unused;
            all.unused = &block[index];
        }
    }
    holder* const taken = all.unused;
    all.unused = taken->next;
    return taken;
}

}

void add_holder(const handle_table& table, const handle& which) noexcept {
    void* frames[holder::max_frames];
    const std::size_t count = host::walk_stack(frames, holder::max_frames);
    const std::uint64_t thread = platform::thread_id();
    const platform::lock_guard lock(all.mutex);
    holder* const added = allocate_holder();
    if (added == nullptr) return;
    *added = {list_of(which), &table, which.entry, which.generation, thread, count, {}};
    for (std::size_t index = 0; index < count; ++index) added->frames[index] = frames[index];
    list_of(which) = added;
}

void remove_holder(const handle_table& table, const handle& which) noexcept {
    const std::uint64_t thread = platform::thread_id();
    const platform::lock_guard lock(all.mutex);
    holder** found = nullptr;
    for (holder** place = &list_of(which); *place != nullptr; place = &(*place)->next) {
        if (!is_of(**place, table, which)) continue;
        if (found == nullptr) found = place;
        if ((*place)->thread != thread) continue;
        found = place;
        break;
    }
    if (found == nullptr) return;
    holder* const gone = *found;
    *found = gone->next;
    gone->next = all.unused;
    all.unused = gone;
}

namespace {

constexpr std::size_t max_told = 8;

/// Returns   the number found, at most max_told.
[[nodiscard]] std::size_t find_holders(const handle_table& table, const handle& which, holder* into) noexcept {
    std::size_t found = 0;
    const platform::lock_guard lock(all.mutex);
    for (const holder* each = list_of(which); each != nullptr && found < max_told; each = each->next) {
        if (is_of(*each, table, which)) into[found++] = *each;
    }
    return found;
}

}

void report_holders(const handle_table& table, const handle& which, std::uint32_t count) noexcept {
    constexpr int max_looks = 50;
    constexpr std::uint64_t between_ns = 100'000;
    holder seen[max_told];
    std::size_t found = find_holders(table, which, seen);
    // acquire() counts before it records, and release() removes the record before it counts: wait until they agree.
    for (int look = 0; found == 0 && look < max_looks; ++look) {
        const std::uint32_t still = table.holders(which);
        if (still == 0) return;
        count = still;
        platform::sleep_ns(between_ns);
        found = find_holders(table, which, seen);
    }
    report_text text;
    text.text("the handle of ").address(which.pointer).text(" was not removed: it is held ").number(count);
    text.text(count == 1 ? " time" : " times");
    for (std::size_t index = 0; index < found; ++index)
        text.text(index == 0 ? ", by thread " : ", ").number(seen[index].thread);
    if (found == 0) text.text(", by an unknown thread");
    text.text(". Release it where it was acquired, then remove it.");
    report(report_kind::notice, text.view());
    for (std::size_t index = 0; index < found; ++index) host::write_stack(seen[index].frames, seen[index].frame_count);
}

std::uint32_t handle_table_access::entries_end(const handle_table& of) noexcept {
    return of.entries_end_.load(std::memory_order_acquire);
}

namespace {

constexpr platform::fork_steps steps_of_holders =
    platform::steps_of_lock<[](void*) noexcept -> platform::mutex& { return all.mutex; }>;
constinit platform::fork_handler of_holders{platform::fork_order::leaf, nullptr, steps_of_holders};
TENURE_AT_LOAD(register_fork_handlers) { of_holders.enlist(); }

}

}
