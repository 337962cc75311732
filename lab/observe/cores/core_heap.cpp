// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/cores/core_heap.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

namespace tenure::lab {

namespace {

namespace format = profile_format;
using format::page_use;

constexpr std::uint64_t page_bytes = format::page_bytes;
constexpr std::size_t word_bits = 64;

[[nodiscard]] core_error damaged(std::string_view what, std::uint64_t address) {
    return core_error(fmt::format("The heap's records are damaged: {} at {:#x}.", what, address));
}

class heap_reader {
public:
    explicit heap_reader(const core_layout& layout)
        : layout_(layout), core_(layout.core()), slice_bytes_(layout["limit.slice_bytes"]),
          // A sound heap's parts do not overlap, so each page is looked at once.
          budget_(4 * (core_.page_count() + core_.parts().size()) + least_budget) {
        const std::uint64_t home = layout.word(layout.root("heaps"), "heap_list.process");
        heap_ = home + layout["home.core"];
        segment_bytes_ = layout.word(heap_ + layout["core.memory"], "memory.segment_bytes");
        const bool is_sound = segment_bytes_ >= layout["limit.segment_bytes_least"] &&
                              segment_bytes_ <= layout["limit.segment_bytes"] && std::has_single_bit(segment_bytes_) &&
                              slice_bytes_ % page_bytes == 0 && segment_bytes_ % slice_bytes_ == 0 &&
                              layout["limit.unit_bytes"] == page_bytes;
        if (!is_sound) throw damaged(fmt::format("segments of {} bytes", segment_bytes_), home);
    }

    [[nodiscard]] core_heap read() {
        found_.is_passthrough = layout_.number(heap_, "core.origin", 1) == layout_["number.origin_malloc"];
        for (const debug_layout::size_class& each : layout_.classes()) {
            found_.classes.push_back({each.block_bytes, 0, 0});
            found_.cached.push_back({each.block_bytes, 0});
        }
        found_.classes.push_back({0, 0, 0}); // all past the last class
        read_small();
        read_large();
        read_huge();
        read_caches();
        for (std::size_t index = 0; index < found_.cached.size(); ++index) {
            format::size_class& of = found_.classes[index];
            found_.cached[index].count = std::min(found_.cached[index].count, of.live_blocks);
            of.live_blocks -= found_.cached[index].count;
            of.live_bytes = of.live_blocks * of.block_bytes;
        }
        return std::move(found_);
    }

private:
    static constexpr std::uint64_t least_budget = 1 << 20;

    /// What the blocks in use take of an OS page.
    struct page_figures {
        std::uint16_t live_bytes = 0, blocks = 0;
    };
    struct small_page {
        const debug_layout::size_class* of_class = nullptr;
        std::size_t class_index = 0;
        std::vector<page_figures> units;
        std::size_t allocated = 0;
    };

    void add(const format::page_run& run) {
        if (!found_.pages.empty() && format::continues(run, found_.pages.back())) {
            found_.pages.back().pages += run.pages;
            return;
        }
        found_.pages.push_back(run);
    }

    void spend(std::uint64_t steps) {
        if (steps > budget_) throw core_error("The heap's records are damaged: its parts overlap.");
        budget_ -= steps;
    }

    void add_range(std::uint64_t begin, std::uint64_t bytes, page_use use) {
        if (begin % page_bytes != 0 || bytes % page_bytes != 0 || bytes > UINT64_MAX - begin)
            throw damaged(fmt::format("a part of {} bytes", bytes), begin);
        const bool is_block = use == page_use::large_block;
        const std::uint16_t live = is_block ? page_bytes : 0, blocks = is_block ? 1 : 0;
        spend(core_.for_each_touched(begin, begin + bytes, [&](std::uint64_t at, std::uint64_t part_bytes) {
            for (std::uint64_t left = part_bytes / page_bytes; left != 0;) {
                const auto pages = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, UINT32_MAX));
                add({at, pages, use, live, blocks, 0});
                at += pages * page_bytes;
                left -= pages;
            }
        }));
    }

    void read_small() {
        const std::uint64_t pages = heap_ + layout_["core.pages"];
        for (const std::uint64_t each : layout_.list(pages + layout_["pages.first"], "segment.next", "segments"))
            read_segment(each);
    }

    void read_segment(std::uint64_t segment) {
        const std::uint64_t mapped = layout_.word(segment, "segment.mapped_bytes");
        if (segment % segment_bytes_ != 0 || mapped == 0 || mapped > segment_bytes_ || mapped % slice_bytes_ != 0)
            throw damaged(fmt::format("a segment of {} bytes", mapped), segment);
        const std::uint64_t slices = mapped / slice_bytes_;
        const std::uint64_t head =
            std::min(layout_[fmt::format("head_slices.{}", std::countr_zero(segment_bytes_))], slices);
        spend(slices);
        // Behind the records, checked builds have pages that cannot be read and are in no core.
        const std::uint64_t each_slice = layout_["page.bytes"] + 8 * layout_["limit.page_words"];
        const std::uint64_t record_end = layout_["segment.pages"] + segment_bytes_ / slice_bytes_ * each_slice;
        const record_bytes records(core_.read(segment, std::min(record_end, head * slice_bytes_)));
        const std::uint64_t free_at = layout_["segment.free_slices"], first_at = layout_["segment.first_slice"];
        add_range(segment, head * slice_bytes_, page_use::records);
        for (std::uint64_t slice = head; slice < slices;) {
            const std::uint64_t begin = segment + slice * slice_bytes_;
            const bool is_free = (records.number(free_at + slice / 8, 1) >> (slice % 8) & 1) != 0;
            const bool is_first = !is_free && records.number(first_at + 2 * slice, 2) == slice;
            small_page page;
            if (!is_first || !read_page(records, segment, slice, slices, page)) {
                add_range(begin, slice_bytes_, page_use::free);
                ++slice;
                continue;
            }
            for (std::size_t unit = 0; unit < page.units.size(); ++unit) {
                const std::uint64_t at = begin + unit * page_bytes;
                const page_figures& each = page.units[unit];
                if (core_.is_touched(at))
                    add({at, 1, page_use::small_blocks, each.live_bytes, each.blocks, page.of_class->block_bytes});
            }
            found_.classes[page.class_index].live_blocks += page.allocated;
            slice += page.of_class->page_slices;
        }
    }

    /// Returns   false when there is no page, or when its record contradicts itself.
    [[nodiscard]] bool read_page(const record_bytes& records, std::uint64_t segment, std::uint64_t slice,
                                 std::uint64_t slices, small_page& to) {
        const std::uint64_t base = layout_["segment.pages"] + slice * layout_["page.bytes"];
        const auto member = [&](std::string_view name, std::size_t bytes) {
            return records.number(base + layout_[name], bytes);
        };
        if (member("page.owner", 8) == 0) return false; // released
        const std::uint64_t begin = segment + slice * slice_bytes_, bits = member("page.bits", 8);
        to.class_index = member("page.class_index", 1);
        const std::uint64_t words = member("page.words_used", 1), capacity = member("page.capacity", 2);
        const bool has_class = to.class_index < layout_.classes().size();
        if (has_class) to.of_class = &layout_.classes()[to.class_index];
        const bool is_clear = has_class && member("page.block_bytes", 4) == to.of_class->block_bytes &&
                              member("page.begin", 8) == begin + to.of_class->front_bytes &&
                              capacity == to.of_class->page_blocks && words <= layout_["limit.page_words"] &&
                              slice + to.of_class->page_slices <= slices && bits >= segment &&
                              bits - segment <= records.size() && 8 * words <= records.size() - (bits - segment);
        const std::uint64_t room = has_class ? to.of_class->page_slices * slice_bytes_ : 0;
        if (!is_clear || to.of_class->front_bytes + capacity * to.of_class->block_bytes > room) {
            ++found_.unclear_pages;
            return false;
        }
        to.units.resize(room / page_bytes);
        const std::size_t used = std::min<std::uint64_t>(words * word_bits, capacity);
        for (std::size_t index = 0; index < used; ++index) {
            if ((records.number(bits - segment + index / 8, 1) >> (index % 8) & 1) != 0) continue; // free
            ++to.allocated;
            std::uint64_t at = to.of_class->front_bytes + index * to.of_class->block_bytes;
            for (const std::uint64_t end = at + to.of_class->block_bytes; at < end;) {
                page_figures& unit = to.units[at / page_bytes];
                const std::uint64_t next = std::min(end, (at / page_bytes + 1) * page_bytes);
                unit.live_bytes = static_cast<std::uint16_t>(unit.live_bytes + (next - at));
                ++unit.blocks;
                at = next;
            }
        }
        return true;
    }

    void read_large() {
        const std::uint64_t large = heap_ + layout_["core.large"], run_bytes = layout_["run.bytes"];
        const std::uint64_t head = layout_[fmt::format("large_head_units.{}", std::countr_zero(segment_bytes_))];
        const auto segments =
            layout_.list(large + layout_["large.first"], "large_segment.next", "segments of large blocks");
        for (const std::uint64_t segment : segments) {
            const std::uint64_t units = layout_.word(segment, "large_segment.units");
            if (segment % segment_bytes_ != 0 || units > segment_bytes_ / page_bytes || units < head)
                throw damaged(fmt::format("a segment of {} units of large blocks", units), segment);
            const record_bytes runs(core_.read(segment + layout_["large_segment.runs"], units * run_bytes));
            spend(units);
            add_range(segment, head * page_bytes, page_use::records);
            for (std::uint64_t at = head; at < units;) {
                const std::uint64_t count = runs.number(at * run_bytes + layout_["run.units"], 4);
                const bool is_free = runs.number(at * run_bytes + layout_["run.is_free"], 1) != 0;
                if (count == 0 || count > units - at) throw damaged("a run of large blocks", segment + at * page_bytes);
                add_range(segment + at * page_bytes, count * page_bytes,
                          is_free ? page_use::free : page_use::large_block);
                if (!is_free) count_past_classes(count * page_bytes);
                at += count;
            }
        }
    }

    void read_huge() {
        const std::uint64_t huge = heap_ + layout_["core.huge"];
        for (const std::uint64_t block : layout_.list(huge + layout_["huge.live"], "huge_block.next", "huge blocks")) {
            const std::uint64_t mapped = layout_.word(block, "huge_block.mapped");
            const std::uint64_t all = layout_.word(block, "huge_block.mapped_bytes");
            const std::uint64_t lead = layout_.word(block, "huge_block.lead_bytes");
            const std::uint64_t size = layout_.word(block, "huge_block.size");
            if (all > UINT64_MAX - mapped || lead > all || size > all - lead) throw damaged("a huge block", block);
            const std::uint64_t end = std::min(all - lead, (size + page_bytes - 1) / page_bytes * page_bytes);
            add_range(mapped, lead, page_use::records);
            add_range(mapped + lead, end, page_use::large_block);
            add_range(mapped + lead + end, all - lead - end, page_use::slack);
            count_past_classes(size);
        }
        for (const std::uint64_t block : layout_.list(huge + layout_["huge.kept"], "huge_block.next", "huge blocks"))
            add_range(layout_.word(block, "huge_block.mapped"), layout_.word(block, "huge_block.mapped_bytes"),
                      page_use::free);
    }

    void count_past_classes(std::uint64_t bytes) {
        ++found_.classes.back().live_blocks;
        found_.classes.back().live_bytes += bytes;
    }

    void read_caches() {
        const std::uint64_t each_bytes = layout_["block_cache.bytes"], count_at = layout_["block_cache.count"];
        const std::uint64_t counted = layout_["number.counted_classes"], resting_at = layout_["cache.resting"];
        const std::size_t classes = layout_.classes().size();
        const std::uint64_t small = heap_ + layout_["core.small"];
        for (const std::uint64_t cache : layout_.list(small + layout_["small.caches"], "cache.next", "thread caches")) {
            const record_bytes lists(core_.read(cache + layout_["cache.of_class"], each_bytes * layout_["number.all"]));
            const std::uint64_t resting = core_.word(cache + resting_at);
            for (std::size_t index = 0; index < classes; ++index) {
                for (const std::uint64_t number : {std::uint64_t{index}, counted + index}) {
                    const std::uint64_t count = lists.number(number * each_bytes + count_at, 4);
                    if (count > layout_["limit.cached"]) throw damaged("a thread cache", cache);
                    found_.cached[index].count += count;
                }
                if (resting == 0) continue;
                const std::uint64_t ring = resting + layout_["quarantine.rings"] + index * layout_["ring.bytes"];
                const std::uint64_t count = layout_.number(ring, "ring.count", 4);
                if (count > layout_.classes()[index].rested_room) throw damaged("a quarantine", resting);
                found_.cached[index].count += count;
            }
        }
    }

    const core_layout& layout_;
    const core_file& core_;
    std::uint64_t slice_bytes_;
    std::uint64_t budget_;
    std::uint64_t heap_ = 0, segment_bytes_ = 0;
    core_heap found_;
};

}

core_heap read_process_heap(const core_layout& layout) { return heap_reader(layout).read(); }

std::uint64_t reserved_bytes_of(const core_layout& layout) {
    const std::uint64_t home = layout.word(layout.root("heaps"), "heap_list.process");
    return layout.word(home + layout["home.core"] + layout["core.memory"], "memory.reserved_bytes");
}

}
