// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/debug_layout.hpp>

#include <array>
#include <bit>

#include <tenure/heap/detail/checked/quarantine.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/heap/detail/registered_heap.hpp>
#include <tenure/platform/thread_slots.hpp>

// Classes with references or several access levels: the compilers support it, and the standard leaves it to them.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tenure::inline TENURE_ABI::detail {

using debug_layout::fact_of;

/// Where the heap's records have what a reader needs. A name is `record.member`: the member's offset in the record.
/// `record.bytes` is the record's size, and `limit.…`, `number.…` are constants.
struct heap_layout {
    using sampled_record = sampled_blocks::record;
    using guarded_place = guarded_blocks::place;
    using fenced_record = fenced_blocks::record;
    using site_record = profile_records::site_record;
    using live_record = profile_records::live_record;
    using any_array = record_array<live_record>; // the members of all arrays are at the same offsets
    static_assert(offsetof(record_array<site_record>, count_) == offsetof(any_array, count_));
    static_assert(offsetof(record_array<std::uint64_t>, count_) == offsetof(any_array, count_));

    static constexpr std::array heaps{
        fact_of("heap_list.process", offsetof(heap_list, process)),
        fact_of("heap_list.end_of_slot", offsetof(heap_list, end_of_slot)),
        fact_of("owner_list.first", offsetof(platform::owner_list, first)),
        fact_of("owner_list.past_last", offsetof(platform::owner_list, past_last)),
        fact_of("owner_list.entry_bytes", offsetof(platform::owner_list, entry_bytes)),
        fact_of("owner_list.owner_offset", offsetof(platform::owner_list, owner_offset)),
        fact_of("owner_list.function_offset", offsetof(platform::owner_list, function_offset)),
        fact_of("limit.owners", platform::max_slots),
        fact_of("tag_list.first", offsetof(debug_layout::tag_list, first)),
        fact_of("tag_list.count", offsetof(debug_layout::tag_list, count)),
        fact_of("tag_list.entry_bytes", offsetof(debug_layout::tag_list, entry_bytes)),
        fact_of("tag_list.text_offset", offsetof(debug_layout::tag_list, text_offset)),
        fact_of("tag_list.length_offset", offsetof(debug_layout::tag_list, length_offset)),
        fact_of("home.name", offsetof(registered_heap, name)), // a pointer and a length, in the library's order
        fact_of("home.core", offsetof(registered_heap, core)),
        fact_of("core.passthrough", offsetof(heap_core, passthrough_)),
        fact_of("core.memory", offsetof(heap_core, memory_)),
        fact_of("core.pages", offsetof(heap_core, pages_)),
        fact_of("core.large", offsetof(heap_core, large_)),
        fact_of("core.huge", offsetof(heap_core, huge_)),
        fact_of("core.guarded", offsetof(heap_core, guarded_)),
        fact_of("core.sampled", offsetof(heap_core, sampled_)),
        fact_of("core.fenced", offsetof(heap_core, fenced_)),
        fact_of("core.small", offsetof(heap_core, small_)),
        fact_of("core.origin", offsetof(heap_core, origin_)),
        fact_of("number.origin_malloc", static_cast<std::size_t>(block_origin::malloc)),
        fact_of("memory.segment_bytes", offsetof(heap_memory, segment_bytes_)),
        fact_of("memory.limit_bytes", offsetof(heap_memory, limit_bytes_)),
        fact_of("memory.reserved_bytes", offsetof(heap_memory, reserved_bytes_)),
        fact_of("memory.in_use_bytes", offsetof(heap_memory, in_use_bytes_)),
        fact_of("memory.peak_bytes", offsetof(heap_memory, peak_bytes_)),
        fact_of("memory.hole_bytes", offsetof(heap_memory, hole_bytes_)),
        fact_of("memory.purged_bytes", offsetof(heap_memory, purged_bytes_)),
        fact_of("memory.sweeps", offsetof(heap_memory, sweeps_)),
        fact_of("limit.segment_bytes_least", min_segment_bytes),
        fact_of("limit.segment_bytes", max_segment_bytes),
    };

    static constexpr std::array pages{
        fact_of("pages.first", offsetof(heap_pages, first_)),
        fact_of("pages.segment_count", offsetof(heap_pages, segment_count_)),
        fact_of("pages.mapped_bytes", offsetof(heap_pages, mapped_bytes_)),
        fact_of("pages.counted_in", offsetof(heap_pages, counted_in_)),
        fact_of("head.class_of_slice", offsetof(segment_head, class_of_slice)),
        fact_of("limit.slice_bytes", slice_bytes),
        fact_of("number.classes", small_class_count),
        fact_of("number.counted_classes", counted_classes),
        fact_of("number.guarded", guarded_class),
        fact_of("number.tagged", tagged_class),
        fact_of("number.watched", watched_class),
        fact_of("number.huge", huge_class),
        fact_of("number.large", large_class),
        fact_of("number.none", no_class),
        fact_of("number.all", class_numbers),
        fact_of("segment.first_slice", offsetof(heap_segment, first_slice)), // 2 bytes per slice
        fact_of("segment.purged_units", offsetof(heap_segment, purged_units)),
        fact_of("segment.next", offsetof(heap_segment, next)),
        fact_of("segment.mapped_bytes", offsetof(heap_segment, mapped_bytes)),
        fact_of("segment.free_count", offsetof(heap_segment, free_count)),
        fact_of("segment.free_slices", offsetof(heap_segment, free_slices)),
        fact_of("segment.dirty_slices", offsetof(heap_segment, dirty_slices)),
        fact_of("segment.stale_slices", offsetof(heap_segment, stale_slices)),
        fact_of("segment.pages", offsetof(heap_segment, pages)),
        fact_of("limit.units_per_slice", units_per_slice),
        fact_of("page.bytes", sizeof(small_page)),
        fact_of("page.begin", offsetof(small_page, begin)),
        fact_of("page.owner", offsetof(small_page, owner)),
        fact_of("page.block_bytes", offsetof(small_page, block_bytes)),
        fact_of("page.capacity", offsetof(small_page, capacity)),
        fact_of("page.free_count", offsetof(small_page, free_count)),
        fact_of("page.words_used", offsetof(small_page, words_used)),
        fact_of("page.class_index", offsetof(small_page, class_index)),
        fact_of("page.age", offsetof(small_page, age)),
        fact_of("page.has_purged", offsetof(small_page, has_purged)),
        fact_of("page.samples_and_tagged", offsetof(small_page, samples_and_tagged)),
        fact_of("page.purged_in", offsetof(small_page, purged_in)),
        fact_of("page.bits", offsetof(small_page, bits)),
        fact_of("limit.page_words", long_words),
        fact_of("shard.tag", offsetof(heap_shard, tag)),
    };

    static constexpr std::array larger{
        fact_of("large.first", offsetof(large_blocks, first_)),
        fact_of("large.segment_count", offsetof(large_blocks, segment_count_)),
        fact_of("large.live_units", offsetof(large_blocks, live_units_)),
        fact_of("large.live_count", offsetof(large_blocks, live_count_)),
        fact_of("large_segment.next", offsetof(large_segment, next)),
        fact_of("large_segment.units", offsetof(large_segment, units)),
        fact_of("large_segment.free_units", offsetof(large_segment, free_units)),
        fact_of("large_segment.dirty", offsetof(large_segment, dirty)),
        fact_of("large_segment.runs", offsetof(large_segment, runs)),
        fact_of("limit.unit_bytes", unit_bytes),
        fact_of("run.bytes", sizeof(large_run)),
        fact_of("run.units", offsetof(large_run, units)),
        fact_of("run.is_free", offsetof(large_run, is_free)),
        fact_of("run.tag", offsetof(large_run, tag)),
        fact_of("huge.live", offsetof(huge_blocks, live_) + offsetof(huge_blocks::list, first)),
        fact_of("huge.kept", offsetof(huge_blocks, kept_) + offsetof(huge_blocks::list, first)),
        fact_of("huge.live_bytes", offsetof(huge_blocks, live_bytes_)),
        fact_of("huge.live_count", offsetof(huge_blocks, live_count_)),
        fact_of("huge_block.next", offsetof(huge_block, next)),
        fact_of("huge_block.mapped", offsetof(huge_block, mapped)),
        fact_of("huge_block.mapped_bytes", offsetof(huge_block, mapped_bytes)),
        fact_of("huge_block.lead_bytes", offsetof(huge_block, lead_bytes)),
        fact_of("huge_block.size", offsetof(huge_block, bytes)),
        fact_of("huge_block.touched_bytes", offsetof(huge_block, touched_bytes)),
        fact_of("huge_block.freed_at_ns", offsetof(huge_block, freed_at_ns)),
        fact_of("huge_block.tag", offsetof(huge_block, tag)),
    };

    static constexpr std::array caches{
        fact_of("small.caches", offsetof(small_blocks, caches_)),
        fact_of("cache.bytes", sizeof(thread_cache)),
        fact_of("cache.of_class", offsetof(thread_cache, of_class)),
        fact_of("cache.resting", offsetof(thread_cache, resting)),
        fact_of("cache.next", offsetof(thread_cache, next)),
        fact_of("cache.thread", offsetof(thread_cache, thread)),
        fact_of("cache.tag", offsetof(thread_cache, tag)),
        fact_of("cache.is_used", offsetof(thread_cache, is_used)),
        fact_of("block_cache.bytes", sizeof(block_cache)),
        fact_of("block_cache.count", offsetof(block_cache, count)),
        fact_of("block_cache.blocks", offsetof(block_cache, blocks)),
        fact_of("limit.cached", max_cached(0)), // blocks of a class in one cache
        fact_of("quarantine.rings", offsetof(quarantine, rings)),
        fact_of("quarantine.blocks", offsetof(quarantine, blocks)),
        fact_of("ring.bytes", sizeof(quarantine::ring)),
        fact_of("ring.count", offsetof(quarantine::ring, count)),
        fact_of("ring.first", offsetof(quarantine::ring, first)),
    };

    static constexpr std::array apart{
        fact_of("sampled.begin", offsetof(sampled_blocks, begin_)),
        fact_of("sampled.table", offsetof(sampled_blocks, table_)),
        fact_of("sampled_table.records", offsetof(sampled_blocks::table, records)),
        fact_of("limit.sampled_records", sampled_blocks::record_count),
        fact_of("sampled_record.bytes", sizeof(sampled_record)),
        fact_of("sampled_record.block", offsetof(sampled_record, block)),
        fact_of("sampled_record.size", offsetof(sampled_record, bytes)),
        fact_of("sampled_record.state", offsetof(sampled_record, is)),
        fact_of("sampled_record.allocated", offsetof(sampled_record, allocated)),
        fact_of("sampled_record.freed", offsetof(sampled_record, freed)),
        fact_of("number.sampled_live", static_cast<std::size_t>(sampled_blocks::state::live)),
        fact_of("number.sampled_freed", static_cast<std::size_t>(sampled_blocks::state::freed)),
        fact_of("call_trace.count", offsetof(call_trace, count)),
        fact_of("call_trace.frames", offsetof(call_trace, frames)),
        fact_of("limit.trace_frames", call_trace::max_frames),
        fact_of("guarded.begin", offsetof(guarded_blocks, begin_)),
        fact_of("guarded.places", offsetof(guarded_blocks, places_)),
        fact_of("limit.guarded_places", guarded_blocks::place_count),
        fact_of("guarded_place.bytes", sizeof(guarded_place)),
        fact_of("guarded_place.block", offsetof(guarded_place, block)),
        fact_of("guarded_place.size", offsetof(guarded_place, bytes)),
        fact_of("guarded_place.is_live", offsetof(guarded_place, is_live)),
        fact_of("fenced.first", offsetof(fenced_blocks, first_)),
        fact_of("fenced_record.next", offsetof(fenced_record, next)),
        fact_of("fenced_record.range", offsetof(fenced_record, range)),
        fact_of("fenced_record.range_bytes", offsetof(fenced_record, range_bytes)),
        fact_of("fenced_record.size", offsetof(fenced_record, bytes)),
        fact_of("passthrough.first", offsetof(passthrough_blocks, first_)),
        fact_of("passthrough_node.bytes", sizeof(passthrough_blocks::node)),
        fact_of("passthrough_node.next", offsetof(passthrough_blocks::node, next)),
        fact_of("passthrough_node.size", offsetof(passthrough_blocks::node, bytes)),
    };

    static constexpr std::array profile{
        fact_of("array.data", offsetof(any_array, data_)),
        fact_of("array.count", offsetof(any_array, count_)),
        fact_of("profile.sites", offsetof(profile_records, sites_)),
        fact_of("profile.frames", offsetof(profile_records, frames_)),
        fact_of("profile.live", offsetof(profile_records, live_)),
        fact_of("profile.lost", offsetof(profile_records, lost_)),
        fact_of("site.bytes", sizeof(site_record)),
        fact_of("site.first_frame", offsetof(site_record, shown.first_frame)),
        fact_of("site.frame_count", offsetof(site_record, shown.frame_count)),
        fact_of("site.tag", offsetof(site_record, shown.tag)),
        fact_of("live.bytes", sizeof(live_record)),
        fact_of("live.address", offsetof(live_record, shown.address)),
        fact_of("live.asked_bytes", offsetof(live_record, shown.asked_bytes)),
        fact_of("live.allocated_ms", offsetof(live_record, shown.allocated_ms)),
        fact_of("live.thread", offsetof(live_record, shown.thread)),
        fact_of("live.site", offsetof(live_record, shown.site)),
        fact_of("live.tag", offsetof(live_record, shown.tag)),
        fact_of("live.block_bytes", offsetof(live_record, shown.block_bytes)),
        fact_of("live.chance", offsetof(live_record, chance)), // a double: the probability of being recorded
        fact_of("live.is_live", offsetof(live_record, is_live)),
    };

    // Sizes of heads, by the segment's size. A name ends with the exponent of a power of two.
    static constexpr std::array heads{
        fact_of("head_slices.18", heap_segment::head_slices(std::size_t{1} << 18)),
        fact_of("head_slices.19", heap_segment::head_slices(std::size_t{1} << 19)),
        fact_of("head_slices.20", heap_segment::head_slices(std::size_t{1} << 20)),
        fact_of("head_slices.21", heap_segment::head_slices(std::size_t{1} << 21)),
        fact_of("head_slices.22", heap_segment::head_slices(std::size_t{1} << 22)),
        fact_of("head_slices.23", heap_segment::head_slices(std::size_t{1} << 23)),
        fact_of("head_slices.24", heap_segment::head_slices(std::size_t{1} << 24)),
        fact_of("head_slices.25", heap_segment::head_slices(std::size_t{1} << 25)),
        fact_of("large_head_units.18", large_segment::head_units(std::size_t{1} << 18)),
        fact_of("large_head_units.19", large_segment::head_units(std::size_t{1} << 19)),
        fact_of("large_head_units.20", large_segment::head_units(std::size_t{1} << 20)),
        fact_of("large_head_units.21", large_segment::head_units(std::size_t{1} << 21)),
        fact_of("large_head_units.22", large_segment::head_units(std::size_t{1} << 22)),
        fact_of("large_head_units.23", large_segment::head_units(std::size_t{1} << 23)),
        fact_of("large_head_units.24", large_segment::head_units(std::size_t{1} << 24)),
        fact_of("large_head_units.25", large_segment::head_units(std::size_t{1} << 25)),
    };
    static_assert(min_segment_bytes == std::size_t{1} << 18 && max_segment_bytes == std::size_t{1} << 25);

    template<class... Arrays>
    [[nodiscard]] static constexpr auto joined(const Arrays&... parts) noexcept {
        std::array<debug_layout::fact, (std::tuple_size_v<Arrays> + ...)> all{};
        std::size_t at = 0;
        const auto append = [&](const auto& part) {
            for (const debug_layout::fact& each : part) all[at++] = each;
        };
        (append(parts), ...);
        return all;
    }
    [[nodiscard]] static constexpr auto facts() noexcept {
        return joined(heaps, pages, larger, caches, apart, profile, heads);
    }
    [[nodiscard]] static constexpr auto classes() noexcept {
        std::array<debug_layout::size_class, small_class_count> all{};
        for (std::size_t index = 0; index < small_class_count; ++index) {
            all[index] = {static_cast<std::uint32_t>(class_bytes(index)),
                          static_cast<std::uint32_t>(slices_of_page(index)),
                          static_cast<std::uint32_t>(front_bytes(index)),
                          static_cast<std::uint32_t>(blocks_in_page(index)),
                          ring_offsets[index],
                          ring_rooms[index]};
        }
        return all;
    }
};

}

using tenure::detail::heap_layout;
using tenure::detail::heap_layout_object;

TENURE_ALIAS(const heap_layout_object, tenure_debug_layout_self, tenure_debug_layout);

constinit const heap_layout_object tenure_debug_layout{
    heap_layout_object::head_of(tenure::debug_layout::heap_magic, &tenure_debug_layout_self, tenure::checks::level),
    {tenure::debug_layout::root_of("heaps", &tenure::detail::list_of_heaps),
     tenure::debug_layout::root_of("owners", &tenure::platform::list_of_owners),
     tenure::debug_layout::root_of("profile", &tenure::detail::records_of_profile),
     tenure::debug_layout::root_of("is_profiling", &tenure::detail::is_profiling),
     tenure::debug_layout::root_of("profile_mean", &tenure::detail::sampling::mean),
     tenure::debug_layout::root_of("tags", &tenure::debug_layout::names_of_tags)},
    heap_layout::classes(),
    heap_layout::facts()};
