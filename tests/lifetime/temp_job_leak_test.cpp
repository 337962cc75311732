// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

#include "lifetime/fixture.hpp"
#include "support/random.hpp"
#include "support/reports.hpp"

namespace {

using tenure::temp_job;

std::uint64_t allowed_frames() { return tenure::option_value(tenure::option::temp_job_frames); }

/// Lets a block of `bytes` leak and looks that it is named at exactly the frame after the last, once.
void expect_report_on_time(std::size_t bytes, std::size_t alignment) {
    support::heard_leaks leaks;
    void* const block = temp_job::allocate(bytes, alignment);
    void* const freed = temp_job::allocate(bytes, alignment);
    temp_job::deallocate(freed);
    support::pass_frames(allowed_frames());
    EXPECT_EQ(leaks.count(), 0u) << bytes << " bytes aligned to " << alignment;
    tenure::next_frame();
    EXPECT_EQ(leaks.count(), 1u) << bytes << " bytes aligned to " << alignment;
    ASSERT_TRUE(leaks.has(block)) << bytes << " bytes aligned to " << alignment;
    EXPECT_EQ(leaks.of(block).bytes, bytes);
    EXPECT_EQ(leaks.of(block).age_frames, allowed_frames() + 1);
    EXPECT_EQ(leaks.of(block).owner, "(no tag)");
    support::pass_frames(20);
    EXPECT_EQ(leaks.of(block).times, 1);
    EXPECT_EQ(temp_job::stats().live_count, 1u) << "it lives on";
    temp_job::deallocate(block);
    EXPECT_EQ(temp_job::stats().live_count, 0u);
    support::pass_frames(20);
    EXPECT_EQ(leaks.count(), 1u);
}

class temp_job_leaks : public support::temp_job_test {};

TEST_F(temp_job_leaks, are_reported_at_the_frame_after_the_last_for_every_kind_of_block) {
    for (std::uint64_t frames : {1u, 4u, 7u}) {
        const support::option_scope option(tenure::option::temp_job_frames, frames);
        for (std::size_t bytes : {0u, 4u, 1000u, 20'000u, 5'000'000u}) {
            for (std::size_t alignment : {16u, 128u, 65'536u}) {
                expect_report_on_time(bytes, alignment);
                support::on_fresh_thread([=] { expect_report_on_time(bytes, alignment); });
            }
        }
        const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
        support::on_fresh_thread([=] { expect_report_on_time(100, 16); }); // taken by itself
    }
}

TEST_F(temp_job_leaks, are_all_named_once_however_many_there_are) {
    support::heard_leaks leaks;
    std::vector<void*> blocks;
    for (int each = 0; each < 5000; ++each) blocks.push_back(temp_job::allocate(each % 500 == 0 ? 100'000 : 24));
    {
        const support::option_scope limit(tenure::option::temp_job_limit_bytes, 0);
        for (int each = 0; each < 300; ++each) blocks.push_back(temp_job::allocate(70'000)); // taken by itself
    }
    support::pass_frames(allowed_frames() + 1);
    EXPECT_EQ(leaks.count(), blocks.size());
    support::pass_frames(3);
    for (void* const each : blocks) {
        ASSERT_TRUE(leaks.has(each));
        ASSERT_EQ(leaks.of(each).times, 1);
        ASSERT_EQ(leaks.of(each).stack.empty(), !tenure::checks::caller);
        temp_job::deallocate(each);
    }
}

// What a handler may do, in a form that a function pointer can reach.
std::vector<void*> taken_by_handler;
void free_and_allocate(const tenure::temp_job_leak& leak) noexcept {
    temp_job::deallocate(const_cast<void*>(leak.address));
    taken_by_handler.push_back(temp_job::allocate(leak.bytes));
    std::memset(tenure::temp::allocate(100), 1, 100);
    EXPECT_GE(temp_job::stats().live_count, 1u);
}

TEST_F(temp_job_leaks, may_be_freed_by_the_handler_which_may_allocate) {
    const tenure::temp_job_leak_handler former = temp_job::set_leak_handler(&free_and_allocate);
    for (int each = 0; each < 200; ++each) static_cast<void>(temp_job::allocate(100));
    support::on_fresh_thread([] { static_cast<void>(temp_job::allocate(200'000)); }); // a chunk that nobody owns
    support::pass_frames(allowed_frames() + 1);
    temp_job::set_leak_handler(former);
    EXPECT_EQ(taken_by_handler.size(), 201u);
    EXPECT_EQ(temp_job::stats().live_count, 201u);
    for (void* const each : taken_by_handler) temp_job::deallocate(each);
    taken_by_handler.clear();
}

TEST_F(temp_job_leaks, are_reported_while_their_thread_sleeps_and_after_it_is_gone) {
    const support::heard_leaks leaks;
    std::atomic<void*> of_sleeper{nullptr};
    std::atomic<bool> stop{false};
    std::thread sleeper([&] {
        void* const freed = temp_job::allocate(10);
        of_sleeper = temp_job::allocate(10);
        temp_job::deallocate(freed);
        while (!stop) std::this_thread::yield();
    });
    while (of_sleeper == nullptr) std::this_thread::yield();
    void* of_ended = nullptr;
    support::on_fresh_thread([&] { of_ended = temp_job::allocate(20); });
    support::pass_frames(allowed_frames());
    EXPECT_EQ(leaks.count(), 0u);
    tenure::next_frame();
    EXPECT_EQ(leaks.count(), 2u);
    EXPECT_TRUE(leaks.has(of_sleeper) && leaks.has(of_ended));
    temp_job::deallocate(of_sleeper);
    temp_job::deallocate(of_ended);
    stop = true;
    sleeper.join();
}

TEST_F(temp_job_leaks, name_every_block_alive_and_none_that_was_freed) {
    support::heard_leaks leaks;
    support::random numbers(support::new_seed());
    std::vector<std::set<void*>> by_frame;
    std::set<void*> reported;
    for (std::uint64_t frame = 0; frame < 60; ++frame) {
        by_frame.emplace_back();
        support::on_fresh_thread([&] {
            for (int count = 0; count < 300; ++count) {
                const std::size_t bytes = numbers.one_in(50) ? numbers.below(100'000) : numbers.below(300);
                by_frame.back().insert(temp_job::allocate(bytes, std::size_t{1} << numbers.below(9)));
            }
        });
        for (auto& blocks : by_frame) {
            for (auto each = blocks.begin(); each != blocks.end();) {
                if (!numbers.one_in(3)) {
                    ++each;
                    continue;
                }
                temp_job::deallocate(*each);
                reported.erase(*each);
                each = blocks.erase(each);
            }
        }
        leaks.forget();
        tenure::next_frame();
        if (frame < allowed_frames()) {
            EXPECT_EQ(leaks.count(), 0u);
            continue;
        }
        const std::set<void*>& due = by_frame[frame - allowed_frames()];
        EXPECT_EQ(leaks.count(), due.size());
        for (void* each : due) {
            ASSERT_TRUE(leaks.has(each));
            EXPECT_EQ(leaks.of(each).times, 1);
            EXPECT_EQ(leaks.of(each).age_frames, allowed_frames() + 1);
            EXPECT_TRUE(reported.insert(each).second) << "named a second time";
        }
        ASSERT_TRUE(temp_job::valid());
    }
    for (const auto& blocks : by_frame) {
        for (void* each : blocks) temp_job::deallocate(each);
    }
}

TEST_F(temp_job_leaks, name_the_owner) {
    const support::heard_leaks leaks;
    void* physics = nullptr;
    void* audio = nullptr;
    void* nobody = nullptr;
    {
        const tenure::tag_scope outer("physics");
        physics = temp_job::allocate(10);
        {
            const tenure::tag_scope inner("audio");
            audio = temp_job::allocate(10);
        }
    }
    nobody = temp_job::allocate(10);
    support::pass_frames(allowed_frames() + 1);
    EXPECT_EQ(leaks.of(physics).owner, "physics");
    EXPECT_EQ(leaks.of(audio).owner, "audio");
    EXPECT_EQ(leaks.of(nobody).owner, "(no tag)");
    for (void* each : {physics, audio, nobody}) temp_job::deallocate(each);
}

struct call {
    void* block;
    void* caller;
};
__attribute__((noinline)) call allocate_here(std::size_t bytes) {
    call made{temp_job::allocate(bytes), __builtin_return_address(0)};
    std::memset(made.block, 1, bytes); // so that the call above is not the last thing here
    return made;
}

TEST_F(temp_job_leaks, say_who_allocated_in_checked_builds) {
    const support::heard_leaks leaks;
    const support::option_scope limit(tenure::option::temp_job_limit_bytes, std::uint64_t{1} << 30);
    const std::vector<call> calls{allocate_here(10), allocate_here(20'000), allocate_here(std::size_t{1} << 30)};
    support::pass_frames(allowed_frames() + 1);
    for (const call& each : calls) {
        const support::leak& said = leaks.of(each.block);
        temp_job::deallocate(each.block);
        if constexpr (!tenure::checks::caller) {
            EXPECT_TRUE(said.stack.empty());
            continue;
        }
        // The function that called the library is the first one, or the second where allocate() is not inlined.
        const auto caller = std::find(said.stack.begin(), said.stack.end(), each.caller);
        ASSERT_NE(caller, said.stack.end());
        ASSERT_TRUE(caller == said.stack.begin() + 1 || caller == said.stack.begin() + 2);
        const auto function = reinterpret_cast<std::uintptr_t>(&allocate_here);
        EXPECT_LT(reinterpret_cast<std::uintptr_t>(*(caller - 1)) - function, 4096u);
    }
}

TEST_F(temp_job_leaks, by_default_are_reports_and_the_program_goes_on) {
    const support::heard_reports heard;
    EXPECT_EQ(temp_job::set_leak_handler(nullptr), nullptr);
    void* block = nullptr;
    {
        const tenure::tag_scope owner("level loader");
        block = temp_job::allocate(123);
    }
    testing::internal::CaptureStderr();
    support::pass_frames(10);
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(heard.count(tenure::report_kind::leak), 1u);
    EXPECT_NE(heard.last().find("of 123 bytes, owner level loader, is still alive after 5 frames"), std::string::npos)
        << heard.last();
    temp_job::deallocate(block);
    EXPECT_GE(temp_job::stats().leaked_count, 1u);
}

TEST_F(temp_job_leaks, without_a_handler_are_written_with_what_to_do) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            static_cast<void>(temp_job::allocate(77));
            support::pass_frames(10);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0),
        "^tenure: TempJob block 0x[0-9a-f]+ of 77 bytes, owner .no tag., is still alive after 5 frames. Free it within "
        "4 "
        "frames, or allocate it as lifetime::persistent. A tag_scope");
}

TEST_F(temp_job_leaks, in_a_chunk_that_a_thread_goes_on_filling_are_named_once_each) {
    const support::heard_leaks leaks;
    std::vector<void*> blocks;
    for (int frame = 0; frame < 100; ++frame) {
        for (int count = 0; count < 3; ++count)
            blocks.push_back(temp_job::allocate(static_cast<std::size_t>(count) * 5));
        tenure::next_frame();
        const std::size_t expected = frame < 4 ? 0 : static_cast<std::size_t>(frame - 3) * 3;
        ASSERT_EQ(leaks.count(), expected) << "after frame " << frame;
    }
    for (void* each : blocks) {
        if (leaks.has(each)) {
            EXPECT_EQ(leaks.of(each).times, 1);
        }
        temp_job::deallocate(each);
    }
}

}
