// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded_blocks.hpp>

#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/heap/heap.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::report_kind;
using tenure::detail::guarded_blocks;

TEST(guarded, blocks_end_at_a_page_and_are_given_back_in_turn) {
    guarded_blocks tested;
    std::vector<unsigned char*> blocks;
    std::set<void*> seen;
    for (std::size_t each = 0; each < guarded_blocks::place_count; ++each) {
        const std::size_t bytes = 1 + each * 257 % guarded_blocks::place_bytes;
        auto* const block = static_cast<unsigned char*>(tested.allocate(bytes, 16));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(tenure::address_of(block) % 16, 0u);
        EXPECT_LT(tenure::align_up(tenure::address_of(block) + bytes, 4096) - tenure::address_of(block) - bytes, 16u);
        std::memset(block, 1, bytes);
        EXPECT_TRUE(tested.contains(block));
        EXPECT_EQ(tested.bytes_of(block), bytes);
        EXPECT_TRUE(seen.insert(block).second);
        blocks.push_back(block);
    }
    EXPECT_EQ(tested.allocate(10, 16), nullptr) << "every place is in use";
    EXPECT_EQ(tested.live_count(), guarded_blocks::place_count);
    tested.deallocate(blocks[5]);
    tested.deallocate(blocks[3]);
    void* const next = tested.allocate(blocks[5] != nullptr ? 100 : 0, 16);
    EXPECT_LT(static_cast<unsigned char*>(next) - blocks[5], 70'000) << "what was freed first";
    tested.free_all();
    EXPECT_EQ(tested.live_count(), 0u);
    EXPECT_EQ(tested.live_bytes(), 0u);
    EXPECT_EQ(tested.allocate(guarded_blocks::place_bytes + 1, 16), nullptr);
    EXPECT_EQ(tested.allocate(10, 8192), nullptr);
}

TEST(guarded, mistakes_at_the_free_are_reported) {
    const support::heard_reports heard;
    guarded_blocks tested;
    auto* const block = static_cast<unsigned char*>(tested.allocate(100, 16));
    tested.deallocate(block + 16);
    EXPECT_NE(heard.last().find("not the start of a block"), std::string::npos) << heard.last();
    block[100] = 0;
    tested.deallocate(block);
    EXPECT_NE(heard.last().find("was overwritten"), std::string::npos) << heard.last();
    tested.deallocate(block);
    EXPECT_NE(heard.last().find("a heap block that is already free was freed"), std::string::npos) << heard.last();
    EXPECT_EQ(heard.count(report_kind::misuse), 3u);
    EXPECT_EQ(tested.live_count(), 0u);
}

TEST(guarded, writes_in_front_are_reported_at_the_free) {
    const support::heard_reports heard;
    guarded_blocks tested;
    auto* const near = static_cast<unsigned char*>(tested.allocate(100, 16));
    near[-1] = 0;
    tested.deallocate(near);
    EXPECT_NE(heard.last().find("memory in front of a heap block was overwritten"), std::string::npos) << heard.last();
    auto* const far = static_cast<unsigned char*>(tested.allocate(100, 16));
    *static_cast<unsigned char*>(tenure::pointer_at(tenure::align_down(tenure::address_of(far), 4096))) = 0;
    tested.deallocate(far);
    EXPECT_EQ(heard.count(report_kind::misuse), 2u) << "the first byte of the page";
    auto* const whole = static_cast<unsigned char*>(tested.allocate(4096, 16));
    std::memset(whole, 0, 4096);
    tested.deallocate(whole);
    EXPECT_EQ(heard.count(report_kind::misuse), 2u) << "nothing lies around it";
}

TEST(guarded, blocks_know_the_call_that_must_free_them) {
    using tenure::detail::block_form;
    const support::heard_reports heard;
    guarded_blocks tested;
    constexpr block_form forms[]{block_form::any, block_form::c, block_form::scalar_new, block_form::array_new};
    for (const block_form from : forms) {
        for (const block_form by : forms) {
            const std::size_t before = heard.count(report_kind::misuse);
            tested.deallocate(tested.allocate(100, 16, from), by);
            const bool is_wrong = from != by && from != block_form::any && by != block_form::any;
            EXPECT_EQ(heard.count(report_kind::misuse) - before, is_wrong ? 1u : 0u);
        }
    }
    tested.deallocate(tested.allocate(100, 16, block_form::array_new), block_form::c);
    EXPECT_NE(heard.last().find("allocated by new[] was freed by free"), std::string::npos) << heard.last();
}

TEST(guarded, the_form_reaches_the_blocks_of_the_process_heap) {
    if (!tenure::checks::caller) GTEST_SKIP() << "no blocks are guarded in this build";
    using tenure::detail::block_form;
    const support::heard_reports heard;
    const std::uint64_t before = tenure::option_value(tenure::option::heap_guard_sample);
    tenure::set_option(tenure::option::heap_guard_sample, 1);
    // The first sample of the thread was drawn before, with one in 5000.
    const auto is_found = [&] { return heard.last().find("in the guarded block") != std::string::npos; };
    for (int each = 0; each < 20'000 && !is_found(); ++each) {
        void* const block = tenure::detail::process_allocate_slow(64, 16, tenure::detail::fill::none, block_form::c);
        const bool is_at_end = tenure::address_of(block) % 4096 == 4096 - 64; // as guarded ones, and few others
        tenure::detail::process_deallocate_as(block, is_at_end ? block_form::scalar_new : block_form::c,
                                              tenure::detail::unknown_size);
    }
    tenure::set_option(tenure::option::heap_guard_sample, before);
    EXPECT_NE(heard.last().find("allocated by malloc was freed by delete"), std::string::npos) << heard.last();
    EXPECT_TRUE(is_found()) << heard.last();
}

class guarded_death : public testing::Test {
protected:
    guarded_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if (support::under_sanitizer()) GTEST_SKIP() << "the sanitizer takes the fault";
    }
};

TEST_F(guarded_death, an_access_past_the_end_stops_where_it_is_made) {
    EXPECT_DEATH(
        {
            guarded_blocks tested;
            auto* const block = static_cast<unsigned char volatile*>(tested.allocate(64, 16));
            block[64] = 1;
        },
        "tenure: an access outside a heap block: 0x[0-9a-f]+, 0 bytes past the end of the block at "
        "0x[0-9a-f]+ of 64 bytes\n(.|\n)*accessed at(.|\n)*allocated at");
}

TEST_F(guarded_death, an_access_after_the_free_stops_where_it_is_made) {
    EXPECT_DEATH(
        {
            guarded_blocks tested;
            auto* const block = static_cast<unsigned char volatile*>(tested.allocate(100, 16));
            tested.deallocate(const_cast<unsigned char*>(block));
            static_cast<void>(block[10]);
        },
        "tenure: an access to a freed heap block: 0x[0-9a-f]+, byte 10 of the block at(.|\n)*freed at");
}

TEST_F(guarded_death, a_heap_draws_a_sample) {
    if (!tenure::checks::caller) GTEST_SKIP() << "no blocks are guarded in this build";
    EXPECT_DEATH(
        {
            tenure::set_option(tenure::option::heap_guard_sample, 1);
            tenure::heap tested;
            auto* block = static_cast<unsigned char*>(tested.allocate(1000));
            std::memset(block, 1, 1000);
            block = static_cast<unsigned char*>(tested.reallocate(block, 4096));
            if (block[999] == 1 && tested.usable_size(block) == 4096)
                static_cast<unsigned char volatile*>(block)[4096] = 1;
        },
        "tenure: an access outside a heap block");
}

}
