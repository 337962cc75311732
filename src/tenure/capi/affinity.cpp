// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: affinity groups.

#include <atomic>
#include <iterator>
#include <new>

#include <tenure/affinity/affinities.hpp>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/platform/fork_handler.hpp>

using namespace tenure;

/// A group and where its memory comes from. Two sources of C functions: configure() releases memory to one, and begins
/// with the other.
struct tn_affinity_group {
    tn_affinity_group(affinity_group& group, sharing sharing_of_group) noexcept
        : value(group), threads(sharing_of_group) {}

    affinity_group& value;
    sharing threads;
    capi::callback_source sources[2]{capi::callback_source(nullptr), capi::callback_source(nullptr)};
    std::size_t current = 0;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_affinity_group";
};

namespace {

[[nodiscard]] affinity_options translated(const tn_affinity_options& options) noexcept {
    affinity_options wanted;
    wanted.alignment = static_cast<std::size_t>(options.alignment);
    wanted.block_bytes = static_cast<std::size_t>(options.block_bytes);
    wanted.max_retained_bytes =
        static_cast<std::size_t>(capi::or_default(options.max_retained_bytes, wanted.max_retained_bytes));
    if (options.sizes_required != 0) wanted.sizes = size_on_free::required;
    if (options.split_by_size != 0) wanted.layout = page_layout::by_size;
    if (options.any_thread != 0) wanted.threads = sharing::any_thread;
    return wanted;
}

/// Whether the options are in the ranges of affinity_options. A group with others would fail every allocation.
[[nodiscard]] bool is_possible(const tn_affinity_options& asked, sharing threads) noexcept {
    if (!capi::callback_source::is_whole(asked.source)) return false;
    const affinity_options wanted = translated(asked);
    constexpr std::size_t least_block = std::size_t{64} << 10, max_block = std::size_t{1} << 30;
    const auto is_in = [](std::size_t value, std::size_t least, std::size_t most) {
        return value == 0 || (is_power_of_two(value) && value >= least && value <= most); // 0: the default
    };
    const bool is_aligned = is_in(wanted.alignment, 4, 1024);
    const bool is_block = is_in(wanted.block_bytes, least_block, max_block);
    const tn_block_source source = capi::asked(asked.source);
    const bool is_of_caller = source.acquire != nullptr;
    const bool is_for_one = is_of_caller && source.any_thread == 0;
    const bool is_shared = threads == sharing::any_thread || wanted.threads == sharing::any_thread;
    return is_aligned && is_block && !(is_shared && is_for_one) && !(is_of_caller && asked.huge_pages != 0);
}

/// Returns   the source that the options name: `callers` with the caller's functions, or the system's pages.
[[nodiscard]] block_source& source_of(const tn_affinity_options& asked, capi::callback_source& callers) noexcept {
    callers.set(asked.source);
    static constinit page_source huge{page_size::huge};
    if (asked.huge_pages != 0) return huge;
    return callers.or_pages();
}

/// A group of the caller's.
struct owned_group : tn_affinity_group {
    explicit owned_group(const tn_affinity_options& options) noexcept
        : tn_affinity_group(group, translated(options).threads), name(capi::view_of(options.name)),
          group(name.view_or("(no name)"), translated(options), source_of(options, sources[0])) {}

    capi::short_name name;
    affinity_group group;
};

struct handle_memory {
    alignas(tn_affinity_group) unsigned char bytes[sizeof(tn_affinity_group)];
};
constinit handle_memory memory[4]{};
constinit std::atomic<tn_affinity_group*> ready_made[4]{}; // released with the group; acquired, or compared only

[[nodiscard]] affinity_group& group_of(tn_ready_made which) noexcept {
    switch (which) {
    case TN_AFFINITY_DATA: return affinities::data();
    case TN_AFFINITY_NODES: return affinities::nodes();
    case TN_AFFINITY_PHYSICS: return affinities::physics();
    default: return affinities::objects();
    }
}

[[nodiscard]] bool is_ready_made(const tn_affinity_group* group) noexcept {
    for (const auto& each : ready_made)
        if (group != nullptr && each.load(std::memory_order_relaxed) == group) return true;
    return false;
}

}

tn_affinity_group* tn_affinity_create(const tn_affinity_options* options) {
    if (!capi::is_sized(options)) return nullptr;
    const tn_affinity_options known = capi::asked(options);
    if (is_possible(known, sharing::one_thread)) return make<owned_group>(known);
    if constexpr (checks::caller)
        report_misuse("tn_affinity_create got invalid options", options,
                      "alignment is 0 or a power of two from 4 to 1024, block_bytes 0 or one from 64 KiB to 1 GiB. A "
                      "group for any thread needs a source for any thread, and huge_pages excludes a source.");
    return nullptr;
}

void tn_affinity_destroy(tn_affinity_group* group) {
    if (is_ready_made(group))
        return report_misuse("a ready-made affinity group cannot be destroyed", group,
                             "It lives as long as the process. Call tn_affinity_clear to free its objects.");
    capi::destroy_live(static_cast<owned_group*>(group), __func__);
}

tn_affinity_group* tn_affinity_ready_made(tn_ready_made which) {
    if (!capi::is_allowed(which < std::size(ready_made), "tn_affinity_ready_made", "which", which,
                          "Pass TN_AFFINITY_OBJECTS, _DATA, _NODES or _PHYSICS."))
        return nullptr;
    if (tn_affinity_group* const made = ready_made[which].load(std::memory_order_acquire)) return made;
    affinity_group& group = group_of(which); // before the lock, which it takes as well
    const platform::lock_guard lock(platform::making_mutex());
    if (ready_made[which].load(std::memory_order_relaxed) == nullptr)
        ready_made[which].store(new (memory[which].bytes) tn_affinity_group(group, sharing::any_thread),
                                std::memory_order_release);
    return ready_made[which].load(std::memory_order_relaxed);
}

tn_status tn_affinity_configure(tn_affinity_group* group, const tn_affinity_options* options) {
    if (!capi::is_live(group, __func__)) return TN_INVALID_ARGUMENT;
    if (!capi::is_sized(options)) return TN_INVALID_ARGUMENT;
    const tn_affinity_options known = capi::asked(options);
    if (!is_possible(known, group->threads)) return TN_INVALID_ARGUMENT;
    if (!group->value.is_unused()) return TN_STILL_HELD; // the status suffices: configure() would report it
    const std::size_t other = 1 - group->current;
    if (!group->value.configure(translated(known), source_of(known, group->sources[other]))) return TN_INVALID_ARGUMENT;
    group->current = other;
    if (known.any_thread != 0) group->threads = sharing::any_thread;
    return TN_OK;
}

std::uint32_t tn_affinity_sizes_required(const tn_affinity_group* group) {
    if (!capi::is_live(group, __func__)) return 0;
    return group->value.sizes() == size_on_free::required ? 1 : 0;
}

void* tn_affinity_allocate(tn_affinity_group* group, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(group, __func__)) return nullptr;
    return alignment == 0 ? group->value.allocate(bytes) : group->value.allocate(bytes, alignment);
}

void tn_affinity_deallocate(tn_affinity_group* group, void* object) {
    if (!capi::is_live(group, __func__)) return;
    group->value.deallocate(object);
}

void tn_affinity_deallocate_sized(tn_affinity_group* group, void* object, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(group, __func__)) return;
    alignment == 0 ? group->value.deallocate(object, bytes) : group->value.deallocate(object, bytes, alignment);
}

void tn_affinity_clear(tn_affinity_group* group) {
    if (!capi::is_live(group, __func__)) return;
    group->value.clear();
}

std::size_t tn_affinity_trim(tn_affinity_group* group) {
    if (!capi::is_live(group, __func__)) return 0;
    return group->value.trim();
}

void tn_affinity_get_stats(const tn_affinity_group* group, tn_allocator_stats* stats) {
    if (!capi::is_live(group, __func__)) return;
    capi::answer(stats, capi::figures(group->value.stats()));
}
