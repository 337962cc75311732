// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// How the advised drop-in reads a file of advice, and finds call sites by their frames.

#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/dropin/detail/advice.hpp>
#include <tenure/dropin/detail/advice_file.hpp>

#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace {

using tenure::dropin::advice_file;
using tenure::dropin::site_table;
namespace platform = tenure::platform;

class advice : public testing::Test {
protected:
    std::string path_of(const std::string& text) {
        std::ofstream(path_) << text;
        return path_;
    }
    /// What is wrong with a file of this text; empty: nothing.
    std::string why(const std::string& text) { return why_of(path_of(text).c_str()); }
    std::string why_of(const char* path) {
        file_ = std::make_unique<advice_file>();
        const bool is_read = file_->read(path);
        EXPECT_EQ(is_read, file_->why().empty());
        if (!file_->why().empty()) {
            EXPECT_EQ(file_->begin_of_sites(), file_->end_of_sites());
        }
        return std::string{file_->why()};
    }

    support::temporary_folder folder_;
    std::string path_ = (folder_.path() / "a.advice").string();
    std::unique_ptr<advice_file> file_;
};

TEST_F(advice, of_a_file_is_read) {
    ASSERT_EQ(why("tenure-advice 1\n# a remark\n\nobject 0 00ff /bin/a b\nobject 1 - /lib/c\nclass 2 two of them\n"
                  "site 2 0+1f 1+20\nsite 0 1+abc\n"),
              "");
    ASSERT_EQ(file_->end_of_objects() - file_->begin_of_objects(), 2);
    EXPECT_EQ(file_->begin_of_objects()[0].id.count, 2u);
    EXPECT_EQ(file_->begin_of_objects()[0].path_hash, tenure::dropin::hash_of_path("/bin/a b"));
    EXPECT_EQ(file_->name_of_group(2), "two of them");
    EXPECT_EQ(file_->name_of_group(1), "");
    ASSERT_EQ(file_->end_of_sites() - file_->begin_of_sites(), 2);
    const auto& first = file_->begin_of_sites()[0];
    EXPECT_EQ(first.group, 2);
    EXPECT_EQ(first.count, 2);
    EXPECT_EQ(first.objects[1], 1);
    EXPECT_EQ(first.offsets[1], 0x20u);
    EXPECT_EQ(file_->begin_of_sites()[1].group, 0);
}

TEST_F(advice, within_the_limits_is_read) {
    std::string text = "tenure-advice 1\n";
    for (int index = 0; index < 64; ++index) text += "object " + std::to_string(index) + " - /o\n";
    for (int index = 1; index <= 7; ++index) text += "class " + std::to_string(index) + " abcdefghijklmnopqrstuvwx\n";
    for (int index = 0; index < 1024; ++index)
        text += "site 7 63+ffffffffffff 0+1 1+2 2+" + std::to_string(index) + "\n";
    EXPECT_EQ(why(text), "");
    EXPECT_NE(why(text + "site 1 0+1\n"), "");
    EXPECT_EQ(file_->line(), 1u + 64 + 7 + 1024 + 1);
}

TEST_F(advice, outside_the_limits_is_refused) {
    const std::string head = "tenure-advice 1\nobject 0 - /o\nclass 1 one\n";
    EXPECT_EQ(why(head), "");
    for (const char* const line : {"site 1\n",
                                   "site 1 0\n",
                                   "site 1 1+1\n",
                                   "site 1 0+\n",
                                   "site 1 0+1G\n",
                                   "site 1 0+A\n",
                                   "site 2 0+1\n",
                                   "site 8 0+1\n",
                                   "site 1 0+1 0+2 0+3 0+4 0+5\n",
                                   "site 1 0+fffffffffffffffff\n",
                                   "class 1 again\n",
                                   "class 0 none\n",
                                   "class 8 eight\n",
                                   "class 2 \n",
                                   "class 2 abcdefghijklmnopqrstuvwxy\n",
                                   "object 2 - /o\n",
                                   "object 1 0 /o\n",
                                   "object 1 0g /o\n",
                                   "object 1 - \n",
                                   "something\n",
                                   "site 1 0+1\r\n"}) {
        EXPECT_NE(why(head + line), "") << line;
        EXPECT_EQ(file_->line(), 4u) << line;
    }
    EXPECT_NE(why(""), "");
    EXPECT_NE(why("tenure-advice 2\n"), "");
    EXPECT_NE(why(head + "site 1 0+1"), "") << "cut off";
    EXPECT_EQ(file_->line(), 4u);
    EXPECT_NE(why(head + "#" + std::string(5000, 'x') + "\n"), "") << "a long line";
    std::string remarks = head;
    while (remarks.size() <= advice_file::max_bytes) remarks += "# " + std::string(1000, 'x') + "\n";
    EXPECT_NE(why(remarks), "") << "a large file";
}

TEST_F(advice, of_no_file_is_refused_at_once) {
    EXPECT_NE(why_of((path_ + ".not").c_str()), "");
    EXPECT_NE(why_of(folder_.path().c_str()), "");
    EXPECT_NE(why_of("/dev/zero"), "");
    const std::string pipe = path_ + ".pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NE(why_of(pipe.c_str()), "") << "nobody writes into it";
}

/// Calls of one frame, at any address.
unsigned group_at(const site_table& table, std::uintptr_t position) { return table.group_of({position, 0, 0}); }

TEST(site_tables, find_as_many_sites_as_a_file_may_have) {
    const auto table = std::make_unique<site_table>();
    support::random numbers(3);
    std::vector<std::pair<std::uintptr_t, unsigned>> all;
    for (unsigned each = 0; each < 1024; ++each)
        all.emplace_back(0x7f00'0000'0000 + numbers.below(1u << 24), numbers.below(8));
    for (const auto& [position, group] : all) ASSERT_TRUE(table->add(&position, 1, group));
    for (std::size_t index = 0; index < all.size(); ++index) {
        unsigned last = all[index].second; // of the same address
        for (std::size_t later = index + 1; later < all.size(); ++later)
            if (all[later].first == all[index].first) last = all[later].second;
        EXPECT_EQ(group_at(*table, all[index].first), last);
    }
    for (unsigned each = 0; each < 100'000; ++each) {
        const std::uintptr_t position = 0x7e00'0000'0000 + numbers.below(1u << 24);
        ASSERT_EQ(group_at(*table, position), 0u);
    }
}

TEST(site_tables, forget_the_sites_of_a_library) {
    const auto table = std::make_unique<site_table>();
    const std::uintptr_t positions[] = {0x5000'1000, 0x5000'1fff, 0x5000'2000, 0x5000'2001};
    for (const std::uintptr_t& each : positions) ASSERT_TRUE(table->add(&each, 1, 3));
    table->remove(0x5000'1000, 0x5000'2000); // a return address is behind its call
    EXPECT_EQ(group_at(*table, positions[0]), 3u);
    EXPECT_EQ(group_at(*table, positions[1]), 0u);
    EXPECT_EQ(group_at(*table, positions[2]), 0u);
    EXPECT_EQ(group_at(*table, positions[3]), 3u);
    for (int round = 0; round < 10'000; ++round) { // it takes no room to come and go
        ASSERT_TRUE(table->add(&positions[1], 1, 5));
        ASSERT_EQ(group_at(*table, positions[1]), 5u);
        table->remove(0x5000'1000, 0x5000'2000);
    }
}

TEST(site_tables, refuse_what_is_no_address_of_a_program) {
    const auto table = std::make_unique<site_table>();
    const std::uintptr_t kernel = UINT64_MAX - 100;
    EXPECT_FALSE(table->add(&kernel, 1, 1));
    const std::uintptr_t nowhere[] = {0x1000, 0x2000};
    EXPECT_FALSE(table->add(nowhere, 2, 1)) << "no table says how to find the second frame";
    EXPECT_EQ(group_at(*table, 0x1000), 0u);
}

// Frames: a call that is decided by the last of them, with others for what has fewer.

std::vector<std::uintptr_t> frames;
unsigned found = 0;
const site_table* looked_up = nullptr;

__attribute__((noinline)) void look() {
    platform::caller at = platform::caller_of_this_function();
    found = looked_up != nullptr ? looked_up->group_of(at) : 0;
    frames = {at.position};
    platform::caller_rule rule{};
    while (frames.size() < 3 && platform::find_caller_rule(at.position, rule) && platform::move_outwards(at, rule))
        frames.push_back(at.position);
}
volatile int after = 0;
__attribute__((noinline)) void middle() {
    look();
    after = 1;
}
__attribute__((noinline)) void one() {
    middle();
    after = 2;
}
__attribute__((noinline)) void two() {
    middle();
    after = 3;
}

__attribute__((noinline)) void outer(void (*call)()) { // the third frame
    call();
    after = 4;
}

TEST(site_tables, let_the_longest_match_decide) {
    if (!platform::has_caller_walk) GTEST_SKIP() << "only the immediate caller is known";
    const auto table = std::make_unique<site_table>();
    looked_up = table.get();
    outer(&one);
    const auto of_one = frames;
    outer(&two);
    const auto of_two = frames;
    ASSERT_EQ(of_one.size(), 3u);
    ASSERT_EQ(of_one[0], of_two[0]);
    ASSERT_NE(of_one[1], of_two[1]);
    ASSERT_TRUE(table->add(of_one.data(), 2, 4));
    outer(&two);
    EXPECT_EQ(found, 0u) << "no shorter site";
    outer(&one);
    EXPECT_EQ(found, 4u);
    ASSERT_TRUE(table->add(of_one.data(), 1, 2));
    outer(&two);
    EXPECT_EQ(found, 2u);
    outer(&one);
    EXPECT_EQ(found, 4u);
    ASSERT_TRUE(table->add(of_two.data(), 2, 0)) << "an exception";
    outer(&two);
    EXPECT_EQ(found, 0u);
    ASSERT_TRUE(table->add(of_two.data(), 3, 6));
    outer(&two);
    EXPECT_EQ(found, 6u);
    looked_up = nullptr;
}

}
