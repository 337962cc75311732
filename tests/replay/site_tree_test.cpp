// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The fewest sites that give each call stack its class.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "observe/replay/separation/advice_file.hpp"
#include "observe/replay/separation/site_tree.hpp"

namespace {

using namespace tenure::lab;

constexpr std::uint64_t code = 0x400000;

/// Stacks of a program whose code is in one file. Frames are offsets in it; the first stack is number 1.
trace stacks_of(const std::vector<std::vector<std::uint64_t>>& stacks) {
    trace made;
    made.mappings.push_back({code, code + 0x10000, 0x1000, "/bin/made", "abc123"});
    for (const std::vector<std::uint64_t>& each : stacks) {
        trace_stack stack;
        for (const std::uint64_t frame : each) stack.frames.push_back(code + frame);
        made.stacks.push_back(std::move(stack));
    }
    return made;
}

/// `classes`: of the stacks, from the first on; any_class: it does not matter.
constexpr std::uint8_t any_class = 255;
separation sites_of(const trace& recorded, const std::vector<std::uint8_t>& classes) {
    const site_tree tree(recorded);
    std::vector<wanted_class> wanted(tree.size());
    wanted[site_tree::root] = {ordinary_class, false};
    for (std::uint32_t stack = 0; stack < classes.size(); ++stack)
        if (classes[stack] != any_class) wanted[tree.node_of(stack + 1)] = {classes[stack], false};
    separation made = tree.sites_for(wanted);
    const std::vector<std::uint8_t> found = classes_of(recorded, made);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (classes[i] == any_class) continue;
        EXPECT_EQ(found[i + 1], classes[i]) << "stack " << i << "\n" << to_advice_text(made);
    }
    return made;
}

std::vector<advice_frame> frames_at(std::vector<std::uint64_t> offsets) {
    std::vector<advice_frame> made;
    for (const std::uint64_t each : offsets) made.push_back({0, each + 0x1000}); // what the mapping begins with
    return made;
}

TEST(site_tree, callers_of_one_class_are_one_site_of_one_frame) {
    const trace recorded = stacks_of({{1, 10, 100}, {1, 10, 101}, {1, 11, 100}, {2, 10, 100}});
    const separation made = sites_of(recorded, {3, 3, 3, 0});
    ASSERT_EQ(made.sites.size(), 1U);
    EXPECT_EQ(made.sites[0], (advice_site{3, frames_at({1})}));
    ASSERT_EQ(made.objects.size(), 1U);
    EXPECT_EQ(made.objects[0], (advice_object{"abc123", "/bin/made"}));
    ASSERT_EQ(made.classes.size(), 1U);
    EXPECT_EQ(made.classes[0].number, 3);
}

TEST(site_tree, where_callers_differ_the_frame_that_decides_is_the_last) {
    const trace recorded = stacks_of({{1, 10, 100, 1000}, {1, 10, 101, 1000}, {1, 11, 100}});
    const separation made = sites_of(recorded, {0, 2, 0});
    ASSERT_EQ(made.sites.size(), 1U);
    EXPECT_EQ(made.sites[0], (advice_site{2, frames_at({1, 10, 101})}));
}

TEST(site_tree, an_exception_is_ordinary_inside_a_shorter_site) {
    const trace recorded = stacks_of({{1, 10}, {1, 11}, {1, 12}, {1, 13, 100}, {1, 13, 101}});
    const separation made = sites_of(recorded, {1, 1, 1, 0, 1});
    ASSERT_EQ(made.sites.size(), 2U);
    EXPECT_EQ(made.sites[0], (advice_site{1, frames_at({1})}));
    EXPECT_EQ(made.sites[1], (advice_site{0, frames_at({1, 13, 100})}));
}

TEST(site_tree, classes_within_a_class_are_longer_sites) {
    const trace recorded = stacks_of({{1, 10}, {1, 11}, {1, 12}, {1, 13}, {2}, {3, 10}});
    const separation made = sites_of(recorded, {4, 4, 4, 7, 7, 0});
    ASSERT_EQ(made.sites.size(), 3U);
    EXPECT_EQ(made.sites[0], (advice_site{4, frames_at({1})}));
    EXPECT_EQ(made.classes.size(), 2U);
}

TEST(site_tree, stacks_that_do_not_matter_need_no_site) {
    const trace recorded = stacks_of({{1, 10}, {1, 11}, {1, 12}, {2, 10}});
    const separation made = sites_of(recorded, {1, any_class, any_class, any_class});
    ASSERT_EQ(made.sites.size(), 1U);
    EXPECT_EQ(made.sites[0].frames.size(), 1U) << "one frame is looked up sooner than two";
    EXPECT_TRUE(sites_of(recorded, {0, any_class, 0, 0}).sites.empty());
}

TEST(site_tree, at_most_four_frames_decide) {
    const trace recorded = stacks_of({{1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}, {1, 2, 3, 5}});
    const site_tree tree(recorded);
    EXPECT_EQ(tree.node_of(1), tree.node_of(2));
    EXPECT_NE(tree.node_of(1), tree.node_of(3));
    EXPECT_EQ(tree.shortened(tree.node_of(1), 3), tree.shortened(tree.node_of(3), 3));
    EXPECT_EQ(tree.shortened(tree.node_of(1), 9), tree.node_of(1));
}

TEST(site_tree, code_without_a_file_is_never_in_a_site) {
    trace recorded = stacks_of({{1, 10}, {0x20000, 1, 10}, {1, 0x20000, 10}, {0x30008}, {0x40008}});
    recorded.mappings.push_back({code + 0x30000, code + 0x31000, 0, "[vdso]", ""});
    recorded.mappings.push_back({code + 0x40000, code + 0x41000, 0, "", ""});
    const site_tree tree(recorded);
    EXPECT_EQ(tree.node_of(2), site_tree::root) << "the place that calls malloc has no file";
    EXPECT_EQ(tree.node_of(4), site_tree::root);
    EXPECT_EQ(tree.node_of(5), site_tree::root);
    EXPECT_EQ(tree.node_of(3), tree.shortened(tree.node_of(1), 1)) << "what is before that code still counts";
    EXPECT_EQ(tree.node_of(77), site_tree::root) << "no such stack";
    separation advised;
    advised.objects = {{"", "[vdso]"}};
    advised.classes = {{1, "a"}};
    advised.sites = {{1, {{0, 8}}}};
    EXPECT_EQ(classes_of(recorded, advised)[4], ordinary_class);
}

TEST(site_tree, code_without_a_build_id_ends_a_stack) {
    trace recorded = stacks_of({{1, 10}, {0x20008, 1, 10}, {1, 0x20008, 10}, {0x30008, 10}, {0x40008, 10}});
    recorded.mappings.push_back({code + 0x20000, code + 0x21000, 0, "/lib/libmade.so", ""});
    recorded.mappings.push_back({code + 0x30000, code + 0x31000, 0, "/lib/libodd.so", "abc"});
    recorded.mappings.push_back({code + 0x40000, code + 0x41000, 0, "/" + std::string(max_object_path, 'a'), "ab"});
    const site_tree tree(recorded);
    EXPECT_EQ(tree.node_of(2), site_tree::root) << "the file may be rebuilt at the same path";
    EXPECT_EQ(tree.node_of(3), tree.shortened(tree.node_of(1), 1)) << "what is before that code still counts";
    EXPECT_EQ(tree.node_of(4), site_tree::root) << "no reader knows this ID";
    EXPECT_EQ(tree.node_of(5), site_tree::root) << "the path is too long for the file";
    separation advised;
    advised.objects = {{"", "/lib/libmade.so"}};
    advised.classes = {{1, "a"}};
    advised.sites = {{1, {{0, 8}}}};
    EXPECT_EQ(classes_of(recorded, advised)[2], 1) << "a file that says so is followed";
}

TEST(site_tree, a_return_address_may_be_the_end_of_its_mapping) {
    trace recorded = stacks_of({{0x10000}, {0}});
    const code_places places(recorded);
    EXPECT_EQ(places.find(code + 0x10000).offset, 0x11000U);
    EXPECT_EQ(places.find(code).mapping, nullptr) << "no call is before the first instruction";
    recorded.mappings.push_back({code + 0x10000, code + 0x20000, 0x11000, "/bin/made", "abc123"});
    EXPECT_EQ(code_places(recorded).find(code + 0x10000).mapping, &recorded.mappings[0]);
}

TEST(site_tree, files_are_recognised_by_build_id_and_else_by_path) {
    separation advised;
    advised.objects = {{"abc123", "/bin/other-path"}};
    advised.classes = {{1, "a"}};
    advised.sites = {{1, frames_at({1})}};
    trace recorded = stacks_of({{1, 10}});
    EXPECT_EQ(classes_of(recorded, advised)[1], 1) << "the same build in another place";
    recorded.mappings[0].build_id = "def456";
    EXPECT_EQ(classes_of(recorded, advised)[1], 0);
    recorded.mappings[0].build_id.clear();
    EXPECT_EQ(classes_of(recorded, advised)[1], 0);
    recorded.mappings[0].path = "/bin/other-path";
    EXPECT_EQ(classes_of(recorded, advised)[1], 1) << "one of both has no build ID";
}

}
