// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/made_objects.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/at_fork.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/engine/address_table.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>

// What the process heap holds at the end, by owner tag and, in checked builds, by type.

namespace tenure::inline TENURE_ABI::detail {

namespace {

struct made_object {
    std::uintptr_t key;
    const char* type;
    std::size_t bytes;
    void* frames[held_list::max_frames];
};

using made_table = locked_table<made_object>;
constexpr platform::fork_steps steps_of_made = platform::steps_of_lock<&made_table::lock_of>;
constinit made_table made{platform::fork_order::leaf, steps_of_made};
// Relaxed: it chooses whose stacks are walked, and may miss one.
constinit std::atomic<std::uint64_t> noted_count{0}; // ever

/// Whether this object's whole stack is walked, which takes 1.3 us. Every object has its callers.
bool is_stack_due() noexcept {
    constexpr std::uint64_t first_objects = 1024, one_in = 32;
    const std::uint64_t number = noted_count.load(std::memory_order_relaxed);
    noted_count.store(number + 1, std::memory_order_relaxed); // threads may count one twice
    return number < first_objects || number % one_in == 0;
}

/// Without the frame of note_made(). Returns   the number of frames.
std::size_t frames_of(const made_object& object) noexcept {
    return static_cast<std::size_t>(std::find(object.frames, object.frames + held_list::max_frames, nullptr) -
                                    object.frames);
}

void list_process_heap(held_list& to) noexcept {
    const heap_core& core = process_core();
    if (serves_foreign_blocks() && option_source(option::leak_check) == option_origin::built_in) return;
    const bool are_tags_free = to.patience().waits_for([] { return !are_tags_locked(); });
    if (!are_tags_free || !core.is_free(to.patience())) return to.add_busy("process heap", {});
    const allocator_stats all = core.stats();
    std::size_t count = all.live_count, bytes = all.live_bytes;
    const std::size_t tags = tag::count();
    for (std::size_t id = 1; id < tags; ++id) {
        const tagged_usage found = core.usage_of_tag(static_cast<std::uint16_t>(id));
        if (found.live_count == 0) continue;
        to.add({"process heap, owner ", tag::from_id(static_cast<std::uint16_t>(id)).name(), found.live_count,
                found.live_bytes});
        count -= std::min(count, found.live_count);
        bytes -= std::min(bytes, found.live_bytes);
    }
    to.add({"process heap, no owner", {}, count, bytes});
    if (!checks::caller || made.empty()) return;
    const platform::patient_lock lock(made.mutex(), to.patience());
    if (!lock) return to.add_busy("list of", " objects of make()");
    made.for_each([&](const made_object& each) {
        to.add_detail({"make: ", type_in(each.type), 1, each.bytes, each.frames, frames_of(each)});
    });
}

constinit leak_lister lister{&list_process_heap};

}

void enlist_process_heap() noexcept { lister.enlist(); }

void note_made(const void* object, const char* type, std::size_t bytes, void* next_caller) noexcept {
    if (option_value(option::leak_check) == 0) return;
    made_object noted{address_of(object), type, bytes, {}};
    if (is_stack_due()) {
        void* frames[held_list::max_frames + 1] = {};
        const std::size_t count = host::walk_stack(frames, held_list::max_frames + 1);
        const std::size_t own = count == 0 || frames[0] == TENURE_RETURN_ADDRESS() ? 0 : 1;
        std::copy_n(frames + own, std::min(count - own, held_list::max_frames), noted.frames);
    } else {
        noted.frames[0] = TENURE_RETURN_ADDRESS();
        noted.frames[1] = next_caller;
    }
    made.change([&](auto& table) { table.put(noted); });
}

void forget_made(const void* block) noexcept {
    if (block == nullptr || made.empty()) [[likely]]
        return;
    made.change([&](auto& table) { table.erase(address_of(block)); });
}

void forget_all_made() noexcept {
    if (made.empty()) return;
    made.change([](auto& table) { table.clear(); });
}

}
