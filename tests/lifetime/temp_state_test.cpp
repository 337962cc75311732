// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp_state.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/lifetime/scratch.hpp>

#include "lifetime/fixture.hpp"
#include "support/reports.hpp"

namespace {

using support::on_fresh_thread;
using support::with_budget;
using tenure::temp;
using tenure::temp_scope;
using tenure::temp_state;
using tenure::temp_state_scope;

/// A scope in the hands of the test, as a suspended job holds it.
struct open_scope {
    alignas(temp_scope) unsigned char space[sizeof(temp_scope)];
    void begin() { ::new (static_cast<void*>(space)) temp_scope; }
    void end() { std::launder(reinterpret_cast<temp_scope*>(space))->~temp_scope(); }
};

TEST(temp_state, a_scope_ends_on_another_thread_and_leaves_that_threads_temp_alone) {
    temp_state job(64 * 1024);
    open_scope scope;
    unsigned char* block = nullptr;
    on_fresh_thread([&] {
        const temp_state_scope uses(job);
        static_cast<void>(temp::allocate(16));
        scope.begin();
        block = static_cast<unsigned char*>(temp::allocate(1000));
        std::memset(block, 7, 1000);
    });
    on_fresh_thread([&] {
        void* const own = temp::allocate(100);
        {
            const temp_state_scope uses(job);
            EXPECT_TRUE(temp::owns(block));
            EXPECT_EQ(block[999], 7);
            scope.end();
            EXPECT_EQ(temp::stats().used_bytes, 16 + temp::guard_bytes);
            // A scope of checked builds begins with a gap, which its end returns, too.
            void* const next = temp::allocate(1);
            EXPECT_TRUE(tenure::checks::caller || next == block);
        }
        EXPECT_FALSE(temp::owns(block));
        EXPECT_EQ(temp::allocate(16), static_cast<unsigned char*>(own) + 112 + temp::guard_bytes);
        EXPECT_TRUE(temp::valid());
    });
}

TEST(temp_state, jobs_that_take_turns_keep_their_blocks) {
    with_budget(64 * 1024, [] {
        temp_state one(4096);
        temp_state two(4096);
        unsigned char* blocks[2][20];
        for (int round = 0; round < 20; ++round) {
            for (int job = 0; job < 2; ++job) {
                const temp_state_scope uses(job == 0 ? one : two);
                blocks[job][round] = static_cast<unsigned char*>(temp::allocate(1000)); // overflows too
                std::memset(blocks[job][round], job * 100 + round, 1000);
                ASSERT_TRUE(temp::valid());
            }
        }
        for (int job = 0; job < 2; ++job)
            for (int round = 0; round < 20; ++round)
                for (int byte : {0, 999}) ASSERT_EQ(blocks[job][round][byte], job * 100 + round);
        EXPECT_EQ(temp::stats().used_bytes, 0u);
    });
}

TEST(temp_state, a_scope_that_began_in_the_overflow_ends_there_after_a_switch) {
    with_budget(64 * 1024, [] {
        temp_state job(4096);
        open_scope scope;
        std::size_t used = 0;
        {
            const temp_state_scope uses(job);
            static_cast<void>(temp::allocate(5000));
            used = temp::stats().used_bytes;
            scope.begin();
            static_cast<void>(temp::allocate(200'000));
        }
        static_cast<void>(temp::allocate(100));
        {
            const temp_state_scope uses(job);
            EXPECT_TRUE(temp::valid());
            scope.end();
            EXPECT_EQ(temp::stats().used_bytes, used);
            EXPECT_TRUE(temp::valid());
        }
        EXPECT_EQ(temp::stats().used_bytes, 112 + temp::guard_bytes);
    });
}

TEST(temp_state, the_second_stack_moves_too) {
    temp_state job(64 * 1024);
    void* block = nullptr;
    on_fresh_thread([&] {
        void* const own = tenure::temp_stack::second().allocate(16);
        const temp_state_scope uses(job);
        block = tenure::temp_stack::second().allocate(100);
        EXPECT_NE(own, block);
        EXPECT_FALSE(tenure::temp_stack::second().owns(own));
    });
    on_fresh_thread([&] {
        EXPECT_FALSE(tenure::temp_stack::second().owns(block));
        const temp_state_scope uses(job);
        EXPECT_TRUE(tenure::temp_stack::second().owns(block));
        EXPECT_EQ(tenure::temp_stack::second().stats().used_bytes, 112 + temp::guard_bytes);
    });
}

TEST(temp_state, switching_tells_what_was_in_use) {
    with_budget(64 * 1024, [] {
        temp_state one;
        temp_state two;
        EXPECT_EQ(temp_state::current(), nullptr);
        EXPECT_EQ(temp_state::switch_to(&one), nullptr);
        EXPECT_TRUE(one.is_current());
        EXPECT_EQ(temp_state::switch_to(&two), &one);
        EXPECT_EQ(temp_state::switch_to(&two), &two);
        EXPECT_EQ(temp_state::switch_to(nullptr), &two);
        EXPECT_EQ(temp_state::current(), nullptr);
    });
}

TEST(temp_state, the_budget_is_its_own) {
    with_budget(4096, [] {
        temp_state large(1024 * 1024);
        const temp_state_scope uses(large);
        EXPECT_NE(temp::allocate(500'000), nullptr);
        EXPECT_EQ(temp::stats().budget_bytes, 1024u * 1024);
        EXPECT_EQ(temp::stats().overflow_count, 0u);
    });
}

TEST(temp_state, bytes_under_a_tag_are_counted_once) {
    with_budget(64 * 1024, [] {
        const tenure::tag owner = tenure::tag::named("across a switch");
        temp_state job;
        static_cast<void>(temp_state::switch_to(&job));
        static_cast<void>(temp::allocate(1600)); // without the tag
        static_cast<void>(temp_state::switch_to(nullptr));
        {
            const tenure::tag_scope tagged(owner);
            static_cast<void>(temp::allocate(32));
            const temp_state_scope uses(job);
            static_cast<void>(temp::allocate(160));
        }
        EXPECT_EQ(tenure::usage_of(owner).temp_bytes, 192 + 2 * temp::guard_bytes);
    });
}

TEST(temp_state, a_thread_that_ends_while_it_uses_one_leaves_its_blocks) {
    temp_state job(64 * 1024);
    unsigned char* block = nullptr;
    on_fresh_thread([&] {
        static_cast<void>(temp_state::switch_to(&job));
        block = static_cast<unsigned char*>(temp::allocate(100));
        std::memset(block, 3, 100);
    });
    on_fresh_thread([&] {
        const temp_state_scope uses(job);
        EXPECT_TRUE(temp::owns(block));
        EXPECT_EQ(block[99], 3);
        EXPECT_EQ(temp::stats().used_bytes, 112 + temp::guard_bytes);
    });
}

TEST(temp_state, two_threads_in_one_state_are_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    {
        temp_state job;
        const temp_state_scope uses(job);
        on_fresh_thread([&] {
            EXPECT_EQ(temp_state::switch_to(&job), nullptr);
            EXPECT_FALSE(job.is_current());
        });
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_TRUE(job.is_current());
        EXPECT_TRUE(uses.is_switched());
        on_fresh_thread([&] {
            const temp_state_scope refused(job);
            EXPECT_FALSE(refused.is_switched());
        });
        EXPECT_EQ(heard.count(), 2u);
        EXPECT_TRUE(job.is_current());
    }
    {
        auto job = std::make_unique<temp_state>();
        static_cast<void>(temp_state::switch_to(job.get()));
        static_cast<void>(temp::allocate(100));
        job.reset();
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 3u);
        EXPECT_EQ(temp_state::current(), nullptr);
    }
}

class temp_state_mistakes : public testing::Test {
protected:
    void SetUp() override {
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (tenure::passthrough_enabled(tenure::part::temp)) GTEST_SKIP() << "malloc serves";
    }
    static void expect_one(const support::heard_reports& heard, std::string_view words) {
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find(words), std::string::npos) << heard.last();
        EXPECT_EQ(heard.last().find("another thread"), std::string::npos) << heard.last();
    }
};

TEST_F(temp_state_mistakes, a_scope_that_ends_in_another_state_is_reported_as_that) {
    with_budget(64 * 1024, [] {
        temp_state one;
        temp_state two;
        open_scope scope;
        scope.begin();
        {
            const temp_state_scope uses(one);
            const support::heard_reports heard;
            scope.end();
            expect_one(heard, "a temp_scope ended while another temp_state than its own is current. It began in the "
                              "thread's own Temp, and a temp_state is the current one. Switch back");
        }
        scope.end();
        {
            const temp_state_scope uses(one);
            scope.begin();
        }
        {
            const support::heard_reports heard;
            scope.end();
            expect_one(heard, "It began in a temp_state, and the thread's own Temp is the current one.");
        }
        {
            const temp_state_scope uses(two);
            const support::heard_reports heard;
            scope.end();
            expect_one(heard, "It began in a temp_state, and another temp_state is the current one.");
        }
        on_fresh_thread([&] {
            const support::heard_reports heard;
            scope.end();
            expect_one(heard, "It began in a temp_state, and the thread's own Temp is the current one.");
        });
        const temp_state_scope uses(one);
        scope.end();
        EXPECT_TRUE(temp::valid());
    });
}

TEST_F(temp_state_mistakes, a_container_that_grows_in_another_state_is_reported_as_that) {
    with_budget(64 * 1024, [] {
        temp_state job;
        static_cast<void>(temp::allocate(1)); // a thread that has not used Temp has no stack to remember
        std::vector<int, tenure::stl_allocator<int, temp>> numbers;
        numbers.push_back(1);
        {
            const temp_state_scope uses(job);
            const support::heard_reports heard;
            numbers.resize(100);
            expect_one(heard,
                       "a container over Temp freed memory while another temp_state than its own is current: 0x");
            expect_one(heard, "It was made in the thread's own Temp, and a temp_state is the current one. ");
        }
        const support::heard_reports heard;
        numbers = {};
        numbers.shrink_to_fit();
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find("A block of a temp_state is freed while that state is current."), std::string::npos)
            << heard.last();
    });
}

TEST_F(temp_state_mistakes, a_free_of_the_threads_own_block_inside_a_state_is_reported_as_that) {
    with_budget(64 * 1024, [] {
        temp_state job;
        void* const first = temp::allocate(100);
        void* const second = tenure::temp_stack::second().allocate(100);
        {
            const temp_state_scope uses(job);
            for (void* const block : {first, second}) {
                const support::heard_reports heard;
                temp::deallocate(block, 100);
                expect_one(heard, "a block of the thread's own Temp was freed while a temp_state is current: 0x");
            }
        }
        const support::heard_reports heard;
        temp::deallocate(first, 100);
        tenure::temp_stack::second().deallocate(second, 100);
        EXPECT_EQ(heard.count(), 0u) << heard.last();
    });
}

}
