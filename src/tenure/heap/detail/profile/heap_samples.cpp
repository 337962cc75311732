// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/heap_samples.hpp>

#include <algorithm>
#include <utility>

#include <tenure/base/host.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/probe.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI::detail {

constinit atomic<bool> is_profiling{false}; // released and acquired: see the header

namespace {

constexpr std::size_t max_frames = 64;

}

void begin_sample(heap_core& core, thread_cache* cache, const void* block, std::size_t bytes) noexcept {
    const bool is_noted = cache != nullptr && std::exchange(cache->is_noted, false);
    if (block == nullptr) return;
    const heap_core::profiled_block what = core.profiled(block, bytes);
    // A thread that counts knows which small block it is, also where one between guard pages takes its place. For
    // others, and for larger blocks, each is drawn.
    const bool is_counted = cache != nullptr && cache->is_counting && what.is_of_class;
    if (!(is_counted ? is_noted : sampling::draw(what.bytes))) return;
    void* frames[max_frames];
    const std::size_t count = host::walk_stack(frames, max_frames);
    const std::uint16_t tag = cache != nullptr ? cache->tag : std::uint16_t{0};
    const std::uint64_t now_ms = platform::unix_ms();
    const sample_facts facts{block, bytes, what.bytes, sampling::chance(what.bytes), now_ms, platform::thread_id(),
                             tag};
    if (!records_of_profile.begin(facts, {frames, count})) return;
    if (what.is_small) core.watch(block);
    if (platform::has_listeners()) {
        const double weighted = static_cast<double>(bytes) / facts.chance;
        platform::probe_alloc(block, bytes, static_cast<std::uint64_t>(weighted));
    }
    heap_profile_events::save_if_due(now_ms);
}

void end_sample(heap_core& core, const void* block) noexcept {
    if (!records_of_profile.may_contain(block) || !records_of_profile.end(block)) return;
    if (platform::has_listeners()) platform::probe_free(block);
    if (core.profiled(block, 0).is_small) core.unwatch(block);
}

}
