// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model: blocks in the order in which they were made, each with a number; a mark is the number of the next one.

#include <tenure/arena/arena.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>

#include "support/ledger.hpp"
#include "support/model.hpp"

namespace {

using support::step;
using tenure::arena;

class arena_against_model {
public:
    explicit arena_against_model(std::size_t first_chunk_bytes) : scratch_(first_chunk_bytes, source_) {}

    std::string run(const step& each) {
        switch (each.kind % 32) {
        case 0: return clear();
        case 1: scratch_.trim(); return check_source();
        case 2:
        case 3:
        case 4: marks_.push_back({scratch_.mark(), next_number_}); return {};
        case 5:
        case 6: return rewind(each);
        case 7:
        case 8:
        case 9:
        case 10: return free_newest();
        case 11: return free_any(each);
        default: return allocate(each);
        }
    }

    std::string check() {
        if (!scratch_.valid()) return "the arena is not valid";
        if (std::string fault = ledger_.check_all(); !fault.empty()) return fault;
        std::size_t live = 0;
        for (const numbered& each : blocks_) {
            live += each.block.bytes;
            if (!scratch_.owns(each.block.at)) return "the arena does not know its own " + support::text_of(each.block);
        }
        const tenure::allocator_stats seen = scratch_.stats();
        if (seen.live_bytes < live) return "more bytes are alive than the arena counts";
        if (seen.peak_bytes < seen.live_bytes) return "the peak is below what is alive";
        return check_source();
    }

    std::string finish() {
        if (std::string fault = clear(); !fault.empty()) return fault;
        scratch_.trim();
        return source_.live_blocks() == 0 ? "" : "an empty arena holds chunks after trim";
    }

private:
    struct numbered {
        support::block block;
        std::size_t number;
    };
    struct mark {
        arena::marker marker;
        std::size_t number;
    };

    std::string allocate(const step& each) {
        support::random numbers(each.first);
        const std::size_t bytes = numbers.one_in(20) ? numbers.below(50'000) : numbers.below(200);
        const std::size_t alignment = std::size_t{1} << (numbers.one_in(5) ? numbers.below(13) : numbers.below(5));
        void* const block = scratch_.allocate(bytes, alignment);
        if (block == nullptr) return "the arena refused";
        if (std::string fault = ledger_.add(block, bytes, alignment); !fault.empty()) return fault;
        const std::size_t held = std::max<std::size_t>(bytes, 1);
        blocks_.push_back({{static_cast<unsigned char*>(block), held, alignment, 0}, next_number_++});
        return {};
    }

    std::string remove(std::size_t position) {
        const numbered gone = blocks_[position];
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position));
        std::string fault = ledger_.remove(gone.block.at);
        scratch_.deallocate(gone.block.at, gone.block.bytes, gone.block.alignment);
        return fault;
    }
    std::string free_newest() { return blocks_.empty() ? "" : remove(blocks_.size() - 1); }
    std::string free_any(const step& each) { return blocks_.empty() ? "" : remove(each.first % blocks_.size()); }

    std::string drop_from(std::size_t number) {
        while (!blocks_.empty() && blocks_.back().number >= number) {
            if (std::string fault = ledger_.remove(blocks_.back().block.at); !fault.empty()) return fault;
            blocks_.pop_back();
        }
        return {};
    }

    std::string rewind(const step& each) {
        if (marks_.empty()) return {};
        marks_.resize(each.first % marks_.size() + 1);
        const mark to = marks_.back();
        if (each.second % 2 == 0) marks_.pop_back(); // a mark may be used again
        std::string fault = drop_from(to.number);
        scratch_.rewind(to.marker);
        return fault;
    }

    std::string clear() {
        std::string fault = drop_from(0);
        marks_.clear();
        scratch_.clear();
        if (scratch_.stats().live_bytes != 0) return "bytes are alive after clear";
        return fault;
    }

    std::string check_source() {
        const tenure::allocator_stats seen = scratch_.stats();
        const bool same = seen.reserved_bytes == source_.live_bytes() && seen.source_blocks == source_.live_blocks();
        return same ? "" : "the arena and its source count differently";
    }

    tenure::counting_source source_{tenure::page_source::process()};
    arena scratch_;
    support::ledger ledger_;
    std::vector<numbered> blocks_;
    std::vector<mark> marks_;
    std::size_t next_number_ = 0;
};

std::string replay(std::span<const step> steps, std::size_t first_chunk_bytes) {
    arena_against_model pair(first_chunk_bytes);
    std::size_t count = 0;
    for (const step& each : steps) {
        if (std::string fault = pair.run(each); !fault.empty()) return fault;
        if (++count % 16 != 0) continue;
        if (std::string fault = pair.check(); !fault.empty()) return fault;
    }
    if (std::string fault = pair.check(); !fault.empty()) return fault;
    return pair.finish();
}

TEST(arena_model, agrees_with_the_arena_on_streams_over_small_chunks) {
    for (int round = 0; round < 5; ++round)
        support::expect_agreement("arena", 1500, [](auto steps) { return replay(steps, 1024); });
}

TEST(arena_model, agrees_with_the_arena_on_streams_over_large_chunks) {
    for (int round = 0; round < 5; ++round)
        support::expect_agreement("arena", 1500, [](auto steps) { return replay(steps, 1 << 20); });
}

}
