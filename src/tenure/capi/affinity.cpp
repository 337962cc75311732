// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: affinity groups.

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/capi/detail/callback_source.hpp>

using namespace tenure;

struct tn_affinity {
    explicit tn_affinity(const tn_affinity_options& options) noexcept
        : name(capi::view_of(options.name)), source(options.source),
          value(name.view_or("(no name)"), translated(options), source.or_pages()) {}

    [[nodiscard]] static affinity_options translated(const tn_affinity_options& options) noexcept {
        affinity_options wanted;
        if (options.alignment != 0) wanted.alignment = static_cast<std::size_t>(options.alignment);
        if (options.block_bytes != 0) wanted.block_bytes = static_cast<std::size_t>(options.block_bytes);
        wanted.max_retained_bytes =
            static_cast<std::size_t>(capi::or_default(options.max_retained_bytes, wanted.max_retained_bytes));
        if (options.sizes_required != 0) wanted.sizes = size_on_free::required;
        if (options.split_by_size != 0) wanted.layout = page_layout::by_size;
        if (options.any_thread != 0) wanted.threads = sharing::any_thread;
        return wanted;
    }

    capi::short_name name;
    capi::callback_source source;
    affinity_group value;
};

namespace {

/// Whether the options are in the ranges of affinity_options. A group with others would fail every allocation.
[[nodiscard]] bool is_possible(const tn_affinity_options& asked) noexcept {
    const affinity_options wanted = tn_affinity::translated(asked);
    constexpr std::size_t least_block = std::size_t{64} << 10, max_block = std::size_t{1} << 30;
    const bool is_aligned = is_power_of_two(wanted.alignment) && wanted.alignment >= 8 && wanted.alignment <= 1024;
    const bool is_block =
        is_power_of_two(wanted.block_bytes) && wanted.block_bytes >= least_block && wanted.block_bytes <= max_block;
    const tn_block_source source = capi::asked(asked.source);
    const bool is_for_one = source.acquire != nullptr && source.any_thread == 0;
    return is_aligned && is_block && !(asked.any_thread != 0 && is_for_one);
}

}

tn_affinity* tn_affinity_create(const tn_affinity_options* options) {
    if (!capi::is_sized(options)) return nullptr;
    const tn_affinity_options known = capi::asked(options);
    const bool is_whole = capi::callback_source::is_whole(known.source);
    return is_whole && is_possible(known) ? make<tn_affinity>(known) : nullptr;
}

void tn_affinity_destroy(tn_affinity* group) { destroy(group); }

void* tn_affinity_allocate(tn_affinity* group, std::size_t bytes, std::size_t alignment) {
    return alignment == 0 ? group->value.allocate(bytes) : group->value.allocate(bytes, alignment);
}

void tn_affinity_deallocate(tn_affinity* group, void* object) { group->value.deallocate(object); }

void tn_affinity_deallocate_sized(tn_affinity* group, void* object, std::size_t bytes, std::size_t alignment) {
    alignment == 0 ? group->value.deallocate(object, bytes) : group->value.deallocate(object, bytes, alignment);
}

void tn_affinity_clear(tn_affinity* group) { group->value.clear(); }

std::size_t tn_affinity_trim(tn_affinity* group) { return group->value.trim(); }

void tn_affinity_get_stats(const tn_affinity* group, tn_allocator_stats* stats) {
    capi::answer(stats, capi::figures(group->value.stats()));
}
