// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_figures.hpp"

#include <algorithm>
#include <bit>

namespace tenure::lab {

namespace {

struct live_block {
    std::uint64_t bytes = 0, time_ns = 0, number = 0; ///< of its allocation
    std::uint64_t now_bytes = 0;
    std::uint32_t thread = 0;
};

void add_to(std::vector<trace_bucket>& buckets, std::uint64_t value, std::uint64_t bytes) {
    const auto found = std::find_if(buckets.begin(), buckets.end(),
                                    [&](const trace_bucket& each) { return each.below == 0 || value < each.below; });
    ++found->blocks;
    found->bytes += bytes;
}

[[nodiscard]] std::vector<trace_bucket> decades(std::uint64_t first, std::uint64_t last) {
    std::vector<trace_bucket> made;
    for (std::uint64_t below = first; below <= last; below *= 10) made.push_back({below, 0, 0});
    made.push_back({});
    return made;
}

/// Bucket n has the sizes below 2^n, the last one the rest.
class size_buckets {
public:
    void add(std::uint64_t bytes) {
        trace_bucket& to = buckets_[static_cast<std::size_t>(std::bit_width(bytes))];
        ++to.blocks;
        to.bytes += bytes;
    }
    [[nodiscard]] std::vector<trace_bucket> made() {
        for (std::size_t width = 0; width < buckets_.size() - 1; ++width)
            buckets_[width].below = std::uint64_t{1} << width;
        const auto has_blocks = [](const trace_bucket& each) { return each.blocks != 0; };
        const auto first = std::find_if(buckets_.begin(), buckets_.end(), has_blocks);
        const auto last = std::find_if(buckets_.rbegin(), buckets_.rend(), has_blocks).base();
        // The rest is "and more" of the bucket before it.
        return first < last ? std::vector<trace_bucket>(std::min(first, buckets_.end() - 2), last)
                            : std::vector<trace_bucket>{};
    }

private:
    std::array<trace_bucket, 65> buckets_{};
};

}

namespace {

void add_accesses(const trace& of, trace_figures& to) {
    enum class seen : std::uint8_t { no, watched, touched };
    std::vector<seen> blocks(of.windows.empty() ? 0 : of.blocks);
    for (const access_window& window : of.windows) {
        to.watched_ns += window.end_ns - window.begin_ns;
        for (const watched_block& each : window.blocks) {
            seen& block = blocks[each.block];
            to.accesses += each.count;
            to.watched_blocks += std::uint64_t{block == seen::no};
            to.touched_blocks += std::uint64_t{block != seen::touched && each.count != 0};
            if (block != seen::touched) block = each.count != 0 ? seen::touched : seen::watched;
        }
    }
}

}

trace_figures figures_of(const trace& of) {
    trace_figures found;
    size_buckets sizes;
    constexpr std::uint64_t first_ns = 100'000, last_ns = 10'000'000'000, last_distance = 1'000'000;
    found.times = decades(first_ns, last_ns);
    found.distances = decades(1, last_distance);
    std::vector<live_block> blocks(of.blocks);
    const auto grow = [&](std::uint64_t bytes, std::uint64_t time_ns) {
        found.live_bytes += bytes;
        if (found.live_bytes <= found.peak_bytes) return;
        found.peak_bytes = found.live_bytes;
        found.peak_time_ns = time_ns;
    };
    for (const trace_event& each : of.events) {
        found.duration_ns = std::max(found.duration_ns, each.time_ns);
        switch (each.call) {
        case trace_call::allocate:
            blocks[each.block] = {each.bytes, each.time_ns, found.allocations, each.bytes, each.thread};
            ++found.allocations;
            ++found.by_family[static_cast<std::size_t>(each.family)];
            found.allocated_bytes += each.bytes;
            sizes.add(each.bytes);
            found.peak_blocks = std::max(found.peak_blocks, ++found.live_blocks);
            grow(each.bytes, each.time_ns);
            break;
        case trace_call::resize: {
            live_block& block = blocks[each.block];
            ++found.resizes;
            if (each.bytes > block.now_bytes) found.allocated_bytes += each.bytes - block.now_bytes;
            found.live_bytes -= block.now_bytes;
            block.now_bytes = each.bytes;
            grow(each.bytes, each.time_ns);
            break;
        }
        case trace_call::deallocate: {
            const live_block& block = blocks[each.block];
            ++found.deallocations;
            found.cross_thread += std::uint64_t{each.thread != block.thread};
            found.live_bytes -= block.now_bytes;
            --found.live_blocks;
            add_to(found.times, each.time_ns - std::min(each.time_ns, block.time_ns), block.bytes);
            add_to(found.distances, found.allocations - block.number - 1, block.bytes);
            break;
        }
        case trace_call::frame: ++found.frames; break;
        case trace_call::mark: ++found.marks; break;
        }
    }
    found.sizes = sizes.made();
    add_accesses(of, found);
    return found;
}

}
