// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/free_runs.hpp>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

/// Notes what it is asked to decommit, in OS pages.
struct noting_source {
    std::vector<std::pair<std::size_t, std::size_t>> pages;
    bool succeeds = true;

    bool decommit(void* memory, std::size_t bytes) noexcept {
        const std::size_t page = tenure::platform::page_bytes();
        EXPECT_EQ(tenure::address_of(memory) % page, 0u);
        EXPECT_EQ(bytes % page, 0u);
        pages.emplace_back(tenure::address_of(memory) / page, bytes / page);
        return succeeds;
    }
};
using calls = std::vector<std::pair<std::size_t, std::size_t>>;

std::uintptr_t at(double page) { return static_cast<std::uintptr_t>(page * double(tenure::platform::page_bytes())); }

TEST(free_runs, neighbours_are_decommitted_together_in_whole_pages) {
    noting_source source;
    tenure::detail::free_runs runs(source);
    runs.add(at(1.5), at(2.25));
    runs.add(at(2.25), at(5.5));
    EXPECT_EQ(runs.finish(), at(3));
    EXPECT_EQ(source.pages, (calls{{2, 3}}));
}

TEST(free_runs, a_gap_ends_a_run) {
    noting_source source;
    tenure::detail::free_runs runs(source);
    runs.add(at(1), at(2));
    runs.add(at(2.5), at(4));
    runs.add(at(7), at(8));
    EXPECT_EQ(runs.finish(), at(3));
    EXPECT_EQ(source.pages, (calls{{1, 1}, {3, 1}, {7, 1}}));
}

TEST(free_runs, a_run_without_a_whole_page_makes_no_call) {
    noting_source source;
    tenure::detail::free_runs runs(source);
    runs.add(at(1.25), at(1.75));
    runs.add(at(2.5), at(3.25));
    EXPECT_EQ(runs.finish(), 0u);
    EXPECT_TRUE(source.pages.empty());
}

TEST(free_runs, counts_nothing_that_the_source_does_not_decommit) {
    noting_source source;
    source.succeeds = false;
    tenure::detail::free_runs runs(source);
    runs.add(at(1), at(4));
    EXPECT_EQ(runs.finish(), 0u);
    EXPECT_EQ(source.pages.size(), 1u);
}

}
