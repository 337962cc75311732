// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/baseline.hpp"

#include <gtest/gtest.h>

#include "watch/checks.hpp"
#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

constexpr judged_kinds both{true, true};

baseline read(std::string_view text) {
    std::string error;
    baseline known = read_baseline(text, error);
    EXPECT_EQ(error, "");
    return known;
}

std::string error_of(std::string_view text) {
    std::string error;
    EXPECT_TRUE(read_baseline(text, error).empty()) << text;
    return error;
}

/// Names of what is new after `change`, measured against the sample's own baseline.
template<class Change>
std::vector<site_name> new_after(Change change, wait_threshold threshold = {}) {
    findings found = sample::two_regions();
    const baseline known = read(write_baseline(found));
    change(found.regions[0]);
    return new_sites(found, known, both, threshold);
}

TEST(baseline, the_file_is_as_it_was) {
    expect_watch_snapshot("watch.baseline", write_baseline(sample::two_regions()));
}

TEST(baseline, what_is_written_is_known_when_it_is_read) {
    const findings found = sample::two_regions();
    EXPECT_EQ(new_sites(found, {}, both).size(), 2U);
    EXPECT_TRUE(new_sites(found, read(write_baseline(found)), both).empty());
}

TEST(baseline, nothing_found_is_a_head_alone) {
    EXPECT_TRUE(read(write_baseline(findings{})).empty());
    EXPECT_TRUE(read("").empty());
    EXPECT_TRUE(new_sites(findings{}, {}, both).empty());
}

TEST(baseline, only_the_kinds_asked_for_fail) {
    const findings found = sample::two_regions();
    const std::vector<site_name> allocations = new_sites(found, {}, {true, false});
    ASSERT_EQ(allocations.size(), 1U);
    EXPECT_EQ(shown(allocations[0]), "allocation in operator new by build(std::vector<int>&) (build.cpp), region main "
                                     "[clone ._omp_fn.0]");
    const std::vector<site_name> waits = new_sites(found, {}, {false, true});
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(shown(waits[0]), "wait in pthread_mutex_lock by draw(int) (draw.cpp), region main [clone ._omp_fn.0]");
    EXPECT_TRUE(new_sites(found, {}, {false, false}).empty());
}

TEST(baseline, frees_are_no_allocations_and_mappings_are) {
    EXPECT_EQ(new_after([](watched_region& region) {
                  region.sites[2].count = 1000;
                  region.sites.push_back(sample::free_site());
                  region.sites.back().call = hook::call::mmap;
              }).size(),
              1U);
}

TEST(baseline, frees_fail_where_they_are_asked_for) {
    const findings found = sample::two_regions();
    const std::vector<site_name> frees = new_sites(found, {}, {false, false, true, false});
    ASSERT_EQ(frees.size(), 1U);
    EXPECT_EQ(shown(frees[0]), "free in free by ? (libplugin.so), region main [clone ._omp_fn.0]");
    EXPECT_TRUE(new_sites(found, read(write_baseline(found)), {false, false, true, false}).empty());
}

TEST(baseline, locks_and_short_waits_fail_in_a_no_wait_scope_alone) {
    constexpr judged_kinds locks{false, false, false, true}, waits{false, true, false, false};
    findings found = sample::two_regions();
    watched_region& region = found.regions[0];
    region.sites[0].wait_ns = 10;
    EXPECT_TRUE(new_sites(found, {}, locks).empty());
    EXPECT_TRUE(new_sites(found, {}, waits).empty());
    region.kind = hook::region_kind::no_wait;
    ASSERT_EQ(new_sites(found, {}, locks).size(), 1U);
    EXPECT_EQ(new_sites(found, {}, locks)[0].kind, site_kind::lock);
    EXPECT_EQ(new_sites(found, {}, waits).size(), 1U);
    region.sites[0].waits = 0;
    EXPECT_EQ(new_sites(found, {}, locks).size(), 1U) << "a free lock is a lock";
    EXPECT_TRUE(new_sites(found, {}, waits).empty());
}

TEST(baseline, a_new_place_is_found) {
    const std::vector<site_name> fresh = new_after([](watched_region& region) {
        region.sites.push_back(sample::allocation_site());
        region.sites.back().stack[1] = sample::frame("parse(char const*)", "/src/parse.cpp", 3);
    });
    ASSERT_EQ(fresh.size(), 1U);
    EXPECT_EQ(fresh[0].function, "parse(char const*)");
    EXPECT_EQ(fresh[0].place, "parse.cpp");
    EXPECT_EQ(fresh[0].kind, site_kind::allocation);
}

TEST(baseline, an_allocation_that_begins_to_wait_is_new_as_a_wait) {
    const std::vector<site_name> fresh = new_after([](watched_region& region) {
        region.sites[1].waits = 10;
        region.sites[1].wait_ns = 1e6;
    });
    ASSERT_EQ(fresh.size(), 1U);
    EXPECT_EQ(fresh[0].kind, site_kind::wait);
    EXPECT_EQ(fresh[0].call, "operator new");
}

TEST(baseline, other_lines_folders_and_addresses_are_the_same_place) {
    EXPECT_TRUE(new_after([](watched_region& region) {
                    region.place = "main.cpp:99";
                    for (watched_site& site : region.sites) {
                        site.object = "0x7f0011223344";
                        for (named_frame& each : site.stack) {
                            each.line += 20;
                            each.offset += 0x200;
                            each.file = "/elsewhere" + each.file;
                        }
                    }
                }).empty());
}

TEST(baseline, what_an_optimiser_appends_is_no_other_function) {
    for (const std::string_view suffix :
         {" [clone .isra.0]", " [clone .constprop.3] [clone .cold]", ".part.0", ".llvm.123"}) {
        EXPECT_TRUE(
            new_after([suffix](watched_region& region) { region.sites[0].stack[1].function += suffix; }).empty())
            << suffix;
    }
    EXPECT_EQ(new_after([](watched_region& region) { region.name = "main [clone ._omp_fn.1]"; }).size(), 2U)
        << "another region of the same function";
}

TEST(baseline, a_function_without_a_name_is_known_by_its_library) {
    const auto nameless = [](watched_region& region, std::uint64_t offset) {
        region.name = "game+0x" + std::to_string(offset);
        region.sites = {sample::allocation_site()};
        region.sites[0].stack = {sample::frame("", "", 0, "/opt/lib/libplugin.so")};
        region.sites[0].stack[0].offset = offset;
        region.sites[0].blamed = 0;
    };
    findings found = sample::two_regions();
    nameless(found.regions[0], 1000);
    const std::string text = write_baseline(found);
    EXPECT_TRUE(holds(text, "allocation\tgame\toperator new\t?\tlibplugin.so\n")) << text;
    nameless(found.regions[0], 2000);
    EXPECT_TRUE(new_sites(found, read(text), both).empty());
}

TEST(baseline, a_place_that_nothing_is_known_of_has_words_too) {
    findings found = sample::two_regions();
    found.regions[0].sites.resize(2);
    found.regions[0].sites[1].stack.clear();
    EXPECT_TRUE(holds(write_baseline(found), "operator new\t?\t?\n"));
    EXPECT_TRUE(new_sites(found, read(write_baseline(found)), both).empty());
    EXPECT_EQ(shown(new_sites(found, {}, {true, false})[0]),
              "allocation in operator new by ?, region main [clone ._omp_fn.0]");
}

TEST(baseline, short_waits_fail_nothing) {
    findings found = sample::two_regions();
    watched_region& region = found.regions[0];
    const auto waits_for = [&found, &region](double ns, double total_ns) {
        region.time.total_ns = total_ns;
        region.sites[0].wait_ns = ns;
        return !new_sites(found, {}, {false, true}).empty();
    };
    EXPECT_FALSE(waits_for(10'000, 1e6)) << "10 us at least";
    EXPECT_TRUE(waits_for(10'001, 1e6));
    EXPECT_FALSE(waits_for(1e6, 1e9)) << "a thousandth of the region at least";
    EXPECT_TRUE(waits_for(1.1e6, 1e9));
    region.sites[0].waits = 0;
    EXPECT_FALSE(waits_for(1e9, 1e9)) << "nobody slept";
}

TEST(baseline, waits_of_one_place_are_added_up) {
    findings found = sample::two_regions();
    watched_region& region = found.regions[0];
    region.time.total_ns = 1e6;
    region.sites[0].wait_ns = 6000;
    region.sites.push_back(region.sites[0]);
    region.sites.back().object = "another lock";
    EXPECT_EQ(new_sites(found, {}, {false, true}).size(), 1U);
}

TEST(baseline, short_waits_are_written_so_that_they_are_known_when_they_are_long) {
    findings found = sample::two_regions();
    found.regions[0].sites[0].wait_ns = 10;
    const baseline known = read(write_baseline(found));
    found.regions[0].sites[0].wait_ns = 3e6;
    EXPECT_TRUE(new_sites(found, known, both).empty());
}

TEST(baseline, a_broken_line_is_named) {
    const std::string head = "# tenure watch baseline 1\n\n";
    EXPECT_EQ(error_of(head + "wait\tregion\tmalloc\n"),
              "line 3: 5 words separated by tabs are expected (kind, region, call, function, file), but there are 3");
    EXPECT_EQ(error_of(head + "# words\nwait region malloc f f.cpp"),
              "line 4: 5 words separated by tabs are expected (kind, region, call, function, file), but there is 1");
    EXPECT_EQ(error_of(head + "leak\tregion\tmalloc\tf\tf.cpp\n"),
              "line 3: the first word must be allocation, wait, free or lock, not \"leak\"");
    EXPECT_EQ(error_of(head + "wait\tregion\t\tf\tf.cpp\n"), "line 3: the third word, the call, is empty");
    EXPECT_EQ(error_of("# tenure watch baseline 2\n"), "line 1: a baseline of format 2; this command reads format 1");
}

TEST(baseline, ends_of_lines_of_other_systems_are_read) {
    std::string text = write_baseline(sample::two_regions());
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
    EXPECT_EQ(read(text), read(write_baseline(sample::two_regions())));
}

TEST(baseline, names_hold_nothing_that_separates_words) {
    const findings found = sample::of_text("a\tb\nc\r\x01");
    const baseline known = read(write_baseline(found));
    EXPECT_FALSE(known.empty());
    EXPECT_TRUE(new_sites(found, known, both).empty());
}

}

}
