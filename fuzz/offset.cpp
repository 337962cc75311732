// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// An offset allocator of any capacity, with records from a source that sometimes fails: every range that fits is
// allocated, no ranges overlap, and every figure is exact. The model is a map of the allocated ranges.

#include <algorithm>
#include <map>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

#include "operations.hpp"

namespace {

using tenure::offset_allocator, tenure::offset_range;

constexpr std::size_t max_ranges = 3000;
constexpr std::size_t plenty = 1'000'000; // requests to the source
constexpr std::uint64_t never = UINT64_MAX;

/// A source whose blocks can be neither extended nor moved, so that records are copied.
class fixed_source final : public tenure::block_source {
public:
    explicit fixed_source(tenure::block_source& behind) noexcept : behind_(behind) {}
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return behind_.acquire(bytes, alignment);
    }
    void release(void* block, std::size_t bytes) noexcept override { behind_.release(block, bytes); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return behind_.threads(); }

private:
    tenure::block_source& behind_;
};

/// Returns   a power of two, a neighbour of one, or a smaller number; at most `max_bits` bits.
[[nodiscard]] std::uint64_t number(fuzz::input& from, unsigned max_bits) {
    const std::uint8_t kind = from.byte();
    const unsigned bits = kind % 64 % (max_bits + 1);
    const std::uint64_t limit = std::uint64_t{1} << bits;
    if (kind >= 192) return limit + from.byte() % 3 - 1;
    const std::uint64_t any = from.byte() | std::uint64_t{from.byte()} << 8;
    // Multiplying by the golden ratio spreads the value over all bits.
    return bits <= 16 ? any & (limit - 1) : (any * 0x9E37'79B9'7F4A'7C15) >> (64 - bits);
}

class ranges_and_model {
public:
    ranges_and_model(fuzz::input& from, tenure::failing_source& source)
        : from_(from), source_(source), fixed_(source), bits_(max_bits_from(from)),
          capacity_(std::min(number(from, bits_), offset_allocator::max_capacity)),
          tested_(capacity_, from.byte() % 2 == 0 ? static_cast<tenure::block_source&>(source) : fixed_) {}

    void run() {
        const bool is_looked_at = from_.byte() % 4 == 0;
        while (!from_.empty()) {
            step();
            fuzz::require(tested_.capacity() == capacity_, "the capacity is what was set");
            if (is_looked_at) fuzz::require(tested_.valid(), "the ranges are valid after each step");
        }
    }

    void finish() {
        check_all();
        if (held_.size() % 4 == 1) return; // the destructor does not need the ranges freed
        const std::size_t refused = source_.refused();
        source_.allow(0);
        for (auto which = held_.begin(); which != held_.end();) {
            const auto chosen = which++;
            if (chosen->second.due == never) deallocate(chosen);
        }
        for (unsigned frame = 0; frame < offset_allocator::max_latency; ++frame) tenure::next_frame();
        collect();
        fuzz::require(held_.empty(), "nothing waits for longer than the most frames");
        fuzz::require(source_.refused() == refused, "giving back needs no memory");
        check_all();
    }

private:
    struct held {
        offset_range range;
        std::uint64_t size;
        std::uint64_t due = never; ///< the frame at which it becomes free
    };
    using ranges = std::map<std::uint64_t, held>;

    /// A small capacity fills up soon; a large one uses other bins.
    [[nodiscard]] static unsigned max_bits_from(fuzz::input& from) {
        constexpr unsigned max_bits[] = {4, 8, 10, 14, 20, 34, 50, 62};
        return max_bits[from.byte() % std::size(max_bits)];
    }

    void step() {
        const std::uint8_t operation = from_.byte() % 32;
        switch (operation) {
        case 0: return from_.byte() < 32 ? clear() : check_all();
        case 1: return grow();
        case 2: return shrink();
        case 3: return end_frames();
        case 4: return collect();
        case 5: return check_usage();
        case 6: return check_walk();
        case 7: return fuzz::require(tested_.valid(), "the ranges are valid");
        case 8: return allocate_the_largest();
        case 9: return refuse();
        case 10: return set_refusal();
        case 11:
        case 12: return allocate_many();
        case 13:
        case 14: return deallocate_neighbours();
        case 15:
        case 16: return deallocate_later();
        default: break;
        }
        if (operation < 25) {
            const std::uint64_t size = number(from_, bits_);
            static_cast<void>(allocate(size, alignment()));
        } else if (const auto which = any(); which != held_.end()) {
            deallocate(which);
        }
    }

    [[nodiscard]] std::uint64_t alignment() {
        const std::uint8_t byte = from_.byte();
        return byte < 128 ? 1 : std::uint64_t{1} << byte % 64 % (bits_ + 2);
    }

    /// Returns   a range that is not waiting, if one is found; otherwise end().
    [[nodiscard]] ranges::iterator any() {
        const std::size_t choice = from_.byte() | std::size_t{from_.byte()} << 8;
        if (held_.empty()) return held_.end();
        const auto begin = std::next(held_.begin(), static_cast<std::ptrdiff_t>(choice % held_.size()));
        return std::find_if(begin, held_.end(), [](const auto& each) { return each.second.due == never; });
    }

    /// Calls `visit(offset, size, is_free)` for all expected ranges, lowest first, until it returns false.
    template<class Visit>
    bool for_each_range(Visit&& visit) const {
        std::uint64_t end = 0;
        for (const auto& [offset, range] : held_) {
            if (offset != end && !visit(end, offset - end, true)) return false;
            if (!visit(offset, range.size, false)) return false;
            end = offset + range.size;
        }
        return end == capacity_ || visit(end, capacity_ - end, true);
    }

    [[nodiscard]] bool fits(std::uint64_t size, std::uint64_t alignment) const {
        return !for_each_range([&](std::uint64_t offset, std::uint64_t room, bool is_free) {
            const std::uint64_t gap = (0 - offset) & (alignment - 1);
            return !is_free || gap > room || room - gap < size;
        });
    }

    [[nodiscard]] std::uint64_t end_of_ranges() const {
        return held_.empty() ? 0 : held_.rbegin()->first + held_.rbegin()->second.size;
    }

    std::size_t free_what_is_due() {
        return std::erase_if(held_, [](const auto& each) { return each.second.due <= tenure::frame_clock::now(); });
    }

    [[nodiscard]] bool allocate(std::uint64_t size, std::uint64_t alignment) {
        if (held_.size() == max_ranges) return false;
        const std::uint64_t counted = std::max<std::uint64_t>(size, 1);
        if (counted > capacity_) collect(); // otherwise it may fail before collecting what is due
        const std::size_t refused = source_.refused();
        const offset_range range = tested_.allocate(size, alignment);
        free_what_is_due();
        if (!range) {
            fuzz::require(source_.refused() != refused || !fits(counted, alignment), "what fits is not refused");
            return false;
        }
        fuzz::require((range.offset & (alignment - 1)) == 0, "a range is aligned");
        fuzz::require(range.offset <= capacity_ && capacity_ - range.offset >= counted, "a range ends in the memory");
        fuzz::require(tested_.size_of(range) == counted, "a range has the size that was asked for");
        const auto after = held_.lower_bound(range.offset);
        fuzz::require(after == held_.end() || after->first - range.offset >= counted,
                      "a range ends before the next one");
        const auto before = after == held_.begin() ? held_.end() : std::prev(after);
        fuzz::require(before == held_.end() || range.offset - before->first >= before->second.size,
                      "a range begins behind the one before");
        held_.emplace_hint(after, range.offset, held{range, counted});
        return true;
    }

    void allocate_many() {
        const std::uint64_t size = number(from_, bits_), wanted = alignment();
        for (unsigned left = from_.byte(); left != 0; --left)
            if (!allocate(size, wanted)) return;
    }

    /// The largest free range that usage() reports can be allocated, and nothing larger.
    void allocate_the_largest() {
        if (tested_.usage().waiting != 0) collect();
        const std::uint64_t largest = tested_.usage().largest_free;
        const std::size_t refused = source_.refused();
        fuzz::require(!tested_.allocate(largest + 1), "more than the largest free range is refused");
        fuzz::require(source_.refused() == refused, "what fits nowhere takes no memory for records");
        if (largest == 0) return;
        fuzz::require(allocate(largest, 1) || source_.refused() != refused || held_.size() == max_ranges,
                      "the largest free range can be allocated");
    }

    /// Requires  the range is not waiting.
    void deallocate(ranges::iterator which) {
        const held gone = which->second;
        fuzz::require(tested_.size_of(gone.range) == gone.size, "a range keeps its size");
        held_.erase(which);
        tested_.deallocate(gone.range);
    }

    /// Frees from one range on, all or every other one, so that free ranges join, or there are many of them.
    void deallocate_neighbours() {
        auto which = any();
        const std::uint8_t count = from_.byte(), kind = from_.byte();
        for (unsigned left = count; left != 0 && which != held_.end(); --left) {
            const auto chosen = which++;
            const bool is_left = chosen->second.due != never || (kind % 2 == 0 && left % 2 == 0);
            if (!is_left) deallocate(chosen);
        }
    }

    void deallocate_later() {
        const auto which = any();
        const std::uint8_t byte = from_.byte();
        if (which == held_.end()) return;
        const unsigned frames = byte < 192 ? byte % 4 : byte % 80;
        const held given = which->second;
        if (frames == 0)
            held_.erase(which);
        else
            which->second.due = tenure::frame_clock::now() + std::min(frames, offset_allocator::max_latency);
        tested_.deallocate_after(given.range, frames);
        if (frames != 0) fuzz::require(tested_.size_of(given.range) == given.size, "a range that waits keeps its size");
        collect_quietly();
    }

    /// Ranges that are due may have been collected already.
    void collect_quietly() {
        static_cast<void>(tested_.collect());
        free_what_is_due();
    }

    void collect() { fuzz::require(tested_.collect() == free_what_is_due(), "collect() frees what is due"); }

    /// Ends a few frames, or about as many as a range may wait, or more.
    void end_frames() {
        const std::uint8_t byte = from_.byte();
        const unsigned many = byte < 240 ? offset_allocator::max_latency - 2 + byte % 8 : byte;
        for (unsigned left = byte < 160 ? 1 + byte % 3 : many; left != 0; --left) tenure::next_frame();
    }

    void grow() {
        const std::uint64_t more = number(from_, bits_);
        const bool is_less = from_.byte() % 16 == 0 && more != 0 && more <= capacity_;
        const std::uint64_t to = is_less ? capacity_ - more : capacity_ + more;
        const bool is_possible = to >= capacity_ && to <= offset_allocator::max_capacity;
        const std::size_t refused = source_.refused();
        const bool has_grown = tested_.grow(to);
        fuzz::require(has_grown == is_possible || (!has_grown && source_.refused() != refused),
                      "memory grows when it may");
        if (has_grown) capacity_ = to;
    }

    /// Often shrinks to the end of the allocated ranges. Ranges that are due do not prevent it.
    void shrink() {
        const std::uint8_t kind = from_.byte();
        const std::uint64_t by = number(from_, bits_);
        free_what_is_due();
        const std::uint64_t end = end_of_ranges();
        const std::uint64_t to = kind < 64 ? end : kind < 96 ? end + by : capacity_ - std::min(by, capacity_);
        const bool is_possible = to >= end && to <= capacity_;
        fuzz::require(tested_.shrink(to) == is_possible, "memory shrinks to what is allocated, and no further");
        if (is_possible) capacity_ = to;
        collect_quietly();
    }

    void clear() {
        tested_.clear();
        held_.clear();
        check_all();
    }

    void refuse() {
        const std::uint64_t size = number(from_, bits_);
        const fuzz::expected_mistakes mistakes;
        fuzz::require(!tested_.allocate(size, 0), "an alignment of zero is refused");
        fuzz::require(!tested_.allocate(size, std::uint64_t{3} << size % 62), "one that is no power of two is refused");
        fuzz::require(!tested_.allocate(UINT64_MAX - size), "a size past all memory is refused");
        fuzz::require(!tested_.grow(offset_allocator::max_capacity + 1), "so is a capacity past the most");
        tested_.deallocate({});
        tested_.deallocate_after({}, 1);
        collect_quietly();
    }

    /// The source fails after up to three more requests, or not at all.
    void set_refusal() {
        const std::uint8_t byte = from_.byte();
        source_.allow(byte < 128 ? plenty : byte % 4);
    }

    void check_usage() {
        tenure::offset_usage expected;
        for_each_range([&](std::uint64_t, std::uint64_t size, bool is_free) {
            if (!is_free) return true;
            expected.free += size;
            expected.largest_free = std::max(expected.largest_free, size);
            ++expected.free_count;
            return true;
        });
        for (const auto& [offset, range] : held_) expected.waiting += range.due != never ? range.size : 0;
        const tenure::offset_usage seen = tested_.usage();
        fuzz::require(seen.capacity == capacity_, "usage() has the capacity");
        fuzz::require(seen.free == expected.free, "usage() has what is free");
        fuzz::require(seen.largest_free == expected.largest_free, "usage() has the largest free range");
        fuzz::require(seen.free_count == expected.free_count, "usage() counts the free ranges");
        fuzz::require(seen.waiting == expected.waiting, "usage() has what waits");
        fuzz::require(seen.range_count == held_.size(), "usage() counts the allocated ranges");
    }

    void check_walk() {
        struct seen_range {
            std::uint64_t offset, size;
            bool is_free;
        };
        std::vector<seen_range> seen;
        tested_.walk([&](std::uint64_t offset, std::uint64_t size, bool is_free) {
            seen.push_back({offset, size, is_free});
        });
        std::size_t index = 0;
        const bool is_same = for_each_range([&](std::uint64_t offset, std::uint64_t size, bool is_free) {
            if (index == seen.size()) return false;
            const seen_range& range = seen[index++];
            return range.offset == offset && range.size == size && range.is_free == is_free;
        });
        fuzz::require(is_same && index == seen.size(), "a walk sees every range, lowest first");
    }

    void check_all() {
        fuzz::require(tested_.valid(), "the ranges are valid");
        check_usage();
        check_walk();
        collect_quietly();
        fuzz::require(tested_.valid(), "the ranges are valid when no deallocation is pending");
    }

    fuzz::input& from_;
    tenure::failing_source& source_;
    fixed_source fixed_;
    unsigned bits_; // maximum number of bits in sizes
    std::uint64_t capacity_;
    offset_allocator tested_;
    ranges held_;
};

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
    // Waiting ranges are listed by frame. Each input starts at the same frame, so that runs repeat.
    while (tenure::frame_clock::now() % (offset_allocator::max_latency + 1) != 0) tenure::next_frame();
    fuzz::input from(bytes, count);
    tenure::counting_source counted(tenure::page_source::process());
    {
        tenure::failing_source failing(counted, plenty);
        ranges_and_model pair(from, failing);
        pair.run();
        pair.finish();
    }
    fuzz::require(counted.live_blocks() == 0, "the source has everything back");
    return 0;
}
