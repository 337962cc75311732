// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_pages.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/random.hpp"

namespace {

using tenure::detail::affinity_bits;
using tenure::detail::affinity_blocks;
using tenure::detail::affinity_census;
using tenure::detail::affinity_layout;
using tenure::detail::affinity_page;
using tenure::detail::affinity_pages;
using tenure::detail::page_state;

constexpr std::size_t granule = 8;
constexpr std::size_t three_pages_block_bytes = std::size_t{256} << 10; // three usable pages

class pages_of_affinity : public testing::Test {
protected:
    ~pages_of_affinity() override { EXPECT_TRUE(misuse_.empty()); }

    /// An active page, all of it allocated. With objects of the stream's size, or as one object.
    affinity_page& full_page(std::size_t stream = 0) {
        affinity_page* const page = pages_.acquire(stream);
        if (page == nullptr) throw std::bad_alloc();
        return *page;
    }
    /// Frees granules of a page.
    void free(const affinity_page& page, std::size_t first, std::size_t count) {
        unsigned char* const begin = bits_.begin_of(page) + first * granule;
        pages_.free({begin, begin + count * granule});
    }
    void free_rest(affinity_page& page) {
        std::vector<tenure::detail::affinity_run> used;
        unsigned char* at = bits_.begin_of(page);
        bits_.for_each_run(page, 0, [&](tenure::detail::affinity_run run) {
            if (run.begin != at) used.push_back({at, run.begin});
            at = run.end;
            return true;
        });
        unsigned char* const end = bits_.begin_of(page) + page.capacity * granule;
        if (at != end) used.push_back({at, end});
        for (tenure::detail::affinity_run run : used) pages_.free(run);
    }
    /// A page with these runs, a granule apart, listed as one whose runs were all too small.
    affinity_page& measured_page(const std::vector<std::size_t>& runs) {
        affinity_page& page = full_page();
        std::size_t first = 1;
        for (std::size_t run : runs) {
            free(page, first, run);
            first += run + 1;
        }
        pages_.release(page, page.free_granules, *std::max_element(runs.begin(), runs.end()));
        return page;
    }
    bool is_valid() const {
        affinity_census found;
        return blocks_.valid(found) && pages_.valid(found);
    }

    tenure::counting_source source_{tenure::page_source::process()};
    tenure::detail::misuse_log misuse_;
    affinity_bits bits_{affinity_layout::of(three_pages_block_bytes, granule, false)};
    affinity_blocks blocks_{bits_, source_, tenure::max_object_bytes, misuse_};
    affinity_pages pages_{bits_, blocks_, misuse_};
};

TEST_F(pages_of_affinity, a_measured_page_is_found_by_its_largest_run) {
    support::random numbers(20);
    std::vector<std::pair<affinity_page*, std::size_t>> listed; // with the granules of the largest run
    for (unsigned round = 0; round < 2000; ++round) {
        const std::size_t wanted = 1 + numbers.below(std::size_t{1} << numbers.below(12));
        const auto has_run = [&](const auto& each) { return each.second >= wanted; };
        const auto is_surely_found = [&](const auto& each) { return std::bit_floor(each.second) >= wanted; };
        if (listed.size() < 40 && numbers.one_in(2)) {
            std::vector<std::size_t> runs;
            for (std::size_t left = 1 + numbers.below(4); left != 0; --left)
                runs.push_back(1 + numbers.below(std::size_t{1} << numbers.below(11)));
            affinity_page& page = measured_page(runs);
            ASSERT_EQ(page.state, page_state::measured);
            listed.emplace_back(&page, *std::max_element(runs.begin(), runs.end()));
        } else {
            const bool is_search = numbers.one_in(2);
            affinity_page* const found =
                is_search ? pages_.search_measured({wanted * granule, 1}) : pages_.pop_measured(wanted * granule);
            if (found == nullptr) {
                ASSERT_FALSE(is_search ? std::any_of(listed.begin(), listed.end(), has_run)
                                       : std::any_of(listed.begin(), listed.end(), is_surely_found));
                continue;
            }
            const auto place =
                std::find_if(listed.begin(), listed.end(), [&](auto& each) { return each.first == found; });
            ASSERT_TRUE(place != listed.end() && has_run(*place) && found->state == page_state::active);
            listed.erase(place);
            free_rest(*found);
            pages_.release(*found, 0, 0);
            ASSERT_EQ(found->state, page_state::empty);
        }
        ASSERT_TRUE(is_valid());
    }
}

TEST_F(pages_of_affinity, a_search_counts_the_gap_before_an_aligned_object) {
    affinity_page& page = measured_page({10}); // from the second granule on
    EXPECT_EQ(pages_.search_measured({10 * granule, 64}), nullptr);
    EXPECT_EQ(pages_.search_measured({4 * granule, 64}), nullptr);
    EXPECT_EQ(pages_.search_measured({3 * granule, 64}), &page);
}

TEST_F(pages_of_affinity, a_free_makes_a_page_partial_and_the_last_free_makes_it_empty) {
    affinity_page& measured = measured_page({5});
    affinity_page& full = full_page(4);
    pages_.release(full, 0, 0);
    EXPECT_EQ(full.state, page_state::full);
    EXPECT_EQ(pages_.pop_partial(0), nullptr);
    EXPECT_EQ(pages_.pop_partial(4), nullptr);
    free(measured, 100, 1);
    free(full, 0, 4);
    EXPECT_TRUE(is_valid());
    EXPECT_EQ(pages_.pop_measured(granule), nullptr);
    EXPECT_EQ(pages_.pop_partial(0), &measured);
    EXPECT_EQ(pages_.pop_partial(4), &full);
    pages_.release(measured, 0, 0);
    pages_.release(full, 0, 0);
    free_rest(measured);
    free_rest(full);
    EXPECT_EQ(measured.state, page_state::empty);
    EXPECT_EQ(full.state, page_state::empty);
    EXPECT_TRUE(is_valid());
    static_cast<void>(blocks_.trim());
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(pages_of_affinity, an_active_page_stays_active_when_all_of_it_is_freed) {
    affinity_page& page = full_page();
    free_rest(page);
    EXPECT_EQ(page.state, page_state::active);
    pages_.release(page, 0, 0);
    EXPECT_EQ(page.state, page_state::empty);
    EXPECT_EQ(&full_page(), &page);
}

TEST_F(pages_of_affinity, a_run_may_reach_across_pages) {
    affinity_page& first = full_page();
    affinity_page& second = full_page();
    ASSERT_EQ(bits_.end_of(first), bits_.begin_of(second));
    pages_.free({bits_.end_of(first) - 3 * granule, bits_.begin_of(second) + 2 * granule});
    EXPECT_EQ(first.free_granules, 3);
    EXPECT_EQ(second.free_granules, 2);
}

TEST_F(pages_of_affinity, a_second_free_is_recorded_and_changes_nothing) {
    affinity_page& page = full_page();
    pages_.release(page, 0, 0);
    free(page, 10, 5);
    free(page, 10, 5);
    EXPECT_EQ(page.free_granules, 5);
    EXPECT_EQ(pages_.freed_twice_count(), 1u);
    EXPECT_FALSE(misuse_.empty());
    EXPECT_TRUE(is_valid());
    free_rest(page);
    free(page, 20, 1); // in an empty page
    EXPECT_EQ(pages_.freed_twice_count(), 2u);
    EXPECT_TRUE(is_valid());
    misuse_ = {};
}

TEST_F(pages_of_affinity, clear_forgets_lists_and_keeps_blocks) {
    for (unsigned count = 0; count < 5; ++count) measured_page({2});
    const std::size_t blocks = source_.live_blocks();
    pages_.clear();
    EXPECT_TRUE(is_valid());
    EXPECT_EQ(pages_.pop_measured(granule), nullptr);
    for (unsigned count = 0; count < 5; ++count) full_page();
    EXPECT_EQ(source_.live_blocks(), blocks);
}

}
