// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinities.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>

#include <tenure/base/options.hpp>
#include <tenure/platform/fork_handler.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

struct group_memory {
    alignas(affinity_group) unsigned char bytes[sizeof(affinity_group)];
};
constinit group_memory memory[4]{};

constexpr std::string_view names[4]{"objects", "data", "nodes", "physics"};
constexpr std::size_t alignments[4]{8, 16, 8, 16};

page_source& huge_pages() noexcept {
    static constinit page_source source{page_size::huge};
    return source;
}

}

constinit detail::atomic<affinity_group*> detail::ready_made_groups[4]{};

affinity_group& detail::make_ready(ready_made_group which) noexcept {
    const auto index = static_cast<std::size_t>(which);
    // Before the lock: the first query may report an invalid value to a handler that allocates.
    affinity_options options;
    options.threads = sharing::any_thread;
    options.block_bytes = std::bit_floor(static_cast<std::size_t>(option_value(option::affinity_block_bytes)));
    const auto alignment = static_cast<std::size_t>(option_value(option::affinity_alignment));
    options.alignment =
        alignment == 0 ? alignments[index] : std::bit_ceil(std::max(alignment, detail::affinity_least_granule));
    if (option_value(option::affinity_by_size) != 0) options.layout = page_layout::by_size;
    if (option_value(option::affinity_size_required) != 0) options.sizes = size_on_free::required;
    page_source& source = option_value(option::affinity_huge_pages) != 0 ? huge_pages() : page_source::process();

    const platform::lock_guard lock(platform::making_mutex());
    affinity_group* group = ready_made_groups[index].load(std::memory_order_relaxed);
    if (group == nullptr) {
        group = new (memory[index].bytes) affinity_group(names[index], options, source);
        ready_made_groups[index].store(group, std::memory_order_release);
    }
    return *group;
}

}
