// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The model is the set of objects in a page. The bits are changed as a stream changes them.

#include <tenure/affinity/detail/affinity_bits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/platform/page_source.hpp>

#include "support/model.hpp"

namespace {

using support::step;
using tenure::detail::affinity_bits;
using tenure::detail::affinity_block;
using tenure::detail::affinity_layout;
using tenure::detail::affinity_page;
using tenure::detail::affinity_page_bytes;
using tenure::detail::affinity_run;
using tenure::detail::page_state;

constexpr std::size_t block_bytes = 4 * affinity_page_bytes;

/// One page of a block, all free.
class page_against_model {
public:
    page_against_model(std::size_t granule, std::size_t page_index)
        : bits_(affinity_layout::of(block_bytes, granule, true)),
          block_(new (source_.acquire(block_bytes, block_bytes)) affinity_block),
          page_(block_->pages[bits_.first_page() + page_index]) {
        page_.state = page_state::active;
        page_.stream = 0;
        page_.capacity = static_cast<std::uint16_t>(bits_.bytes_of(page_) / granule);
        page_.free_granules = 0;
        free({bits_.begin_of(page_), bits_.end_of(page_)});
    }
    ~page_against_model() { source_.release(block_, block_bytes); }
    page_against_model(const page_against_model&) = delete;
    page_against_model& operator=(const page_against_model&) = delete;

    std::string run(const step& each) {
        if (each.kind % 100 == 0) return clear();
        if (each.kind % 5 < 3) return allocate(each);
        if (objects_.empty()) return "";
        return free_object(std::next(objects_.begin(), static_cast<std::ptrdiff_t>(each.first % objects_.size())));
    }

    std::string check() const {
        std::vector<affinity_run> expected;
        unsigned char* end = bits_.begin_of(page_);
        for (const auto& [begin, bytes] : objects_) {
            if (begin != end) expected.push_back({end, begin});
            end = begin + bytes;
            if (bits_.object_bytes(begin) != bytes) return "an object has another size";
            if (!bits_.is_start(begin) || bits_.is_free(begin) || bits_.is_any_free({begin, end}))
                return "an object's granules are not allocated";
        }
        if (end != bits_.end_of(page_)) expected.push_back({end, bits_.end_of(page_)});
        std::size_t largest = 0, index = 0;
        bool is_same = true;
        bits_.for_each_run(page_, 0, [&](affinity_run run) {
            is_same = index < expected.size() && run.begin == expected[index].begin && run.end == expected[index].end;
            largest = std::max(largest, run.bytes());
            ++index;
            return is_same;
        });
        if (!is_same || index != expected.size()) return "the runs are not what is between the objects";
        if (bits_.largest_run_bytes(page_) != largest) return "another run is the largest";
        if (bits_.count_objects(page_) != objects_.size()) return "other objects are counted";
        return objects_.empty() || bits_.valid(page_) ? "" : "the page is not valid";
    }

    /// No bit of another page was written.
    std::string finish() {
        while (!objects_.empty())
            if (std::string fault = free_object(objects_.begin()); !fault.empty()) return fault;
        if (page_.free_granules != page_.capacity) return "not all granules are free";
        bits_.clear(page_);
        const tenure::bit_word* const first = bits_.free_bits(block_);
        const tenure::bit_word* const end = first + 2 * bits_.page_count * bits_.words_per_page;
        return std::all_of(first, end, [](tenure::bit_word word) { return word == 0; }) ? "" : "a bit is left";
    }

private:
    std::string free(affinity_run run) {
        page_.free_granules = static_cast<std::uint16_t>(page_.free_granules + run.bytes() / bits_.granule_bytes());
        return bits_.set_free(run) == 0 ? "" : "a granule was free before";
    }

    /// Makes a run the extent, allocates from its beginning and frees the rest.
    std::string allocate(const step& each) {
        std::vector<affinity_run> runs;
        const std::size_t scanned = each.second % 4 == 0 ? each.second % page_.capacity : 0;
        bits_.for_each_run(page_, scanned, [&](affinity_run run) {
            runs.push_back(run);
            return true;
        });
        if (runs.empty()) return "";
        const affinity_run run = runs[each.first % runs.size()];
        bits_.start_extent(run);
        bits_.clear_free(run);
        page_.free_granules = static_cast<std::uint16_t>(page_.free_granules - run.bytes() / bits_.granule_bytes());
        const std::size_t granules = run.bytes() / bits_.granule_bytes();
        const std::size_t limit = each.kind % 3 == 0 ? granules : std::min<std::size_t>(granules, 9);
        const std::size_t bytes = (1 + each.second % limit) * bits_.granule_bytes();
        bits_.mark_end(run.begin + bytes);
        objects_.emplace(run.begin, bytes);
        return bytes == run.bytes() ? "" : free({run.begin + bytes, run.end});
    }

    std::string free_object(std::map<unsigned char*, std::size_t>::iterator object) {
        const affinity_run run{object->first, object->first + object->second};
        if (run.bytes() % 3 == 0) bits_.unmark_start(run.begin); // as checked builds do
        objects_.erase(object);
        if (std::string fault = free(run); !fault.empty()) return fault;
        return bits_.is_any_free(run) && bits_.is_free(run.begin) ? "" : "a freed object is not free";
    }

    std::string clear() {
        bits_.clear(page_);
        objects_.clear();
        return free({bits_.begin_of(page_), bits_.end_of(page_)});
    }

    tenure::page_source source_;
    affinity_bits bits_;
    affinity_block* block_;
    affinity_page& page_;
    std::map<unsigned char*, std::size_t> objects_;
};

class affinity_bits_model : public testing::TestWithParam<std::size_t> {};

TEST_P(affinity_bits_model, agrees_with_the_bits) {
    for (std::size_t page_index = 0; page_index < 2; ++page_index) { // the first begins behind the block's front
        const auto replay = [&](std::span<const step> steps) {
            page_against_model pair(GetParam(), page_index);
            for (const step& each : steps) {
                if (std::string fault = pair.run(each); !fault.empty()) return fault;
                if (std::string fault = pair.check(); !fault.empty()) return fault;
            }
            return pair.finish();
        };
        support::expect_agreement("bits of a page", 300, replay);
    }
}

INSTANTIATE_TEST_SUITE_P(granules, affinity_bits_model, testing::Values(4, 8, 16, 64, 1024));

TEST(affinity_layout, no_size_of_block_has_bits_behind_its_front) {
    for (std::size_t bytes = affinity_page_bytes; bytes <= std::size_t{1} << 30; bytes *= 2) {
        for (std::size_t granule = 4; granule <= 1024; granule *= 2) {
            const affinity_layout layout = affinity_layout::of(bytes, granule, true);
            const std::size_t words = layout.page_count * layout.words_per_page;
            EXPECT_GE(layout.free_offset, sizeof(affinity_block) + (layout.page_count - 1) * sizeof(affinity_page));
            EXPECT_GE(layout.start_offset, layout.free_offset + words * sizeof(tenure::bit_word));
            EXPECT_GE(layout.front_bytes, layout.start_offset + words * sizeof(tenure::bit_word));
            EXPECT_GE(layout.usable_pages(), 1u) << bytes << " in granules of " << granule;
            const std::size_t behind_front = (layout.first_page() + 1) * affinity_page_bytes - layout.front_bytes;
            EXPECT_GE(behind_front, affinity_page_bytes / 4 + 4096);
        }
    }
}

}
