// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What the child of a fork finds of Temp and TempJob of other threads. All allocators at work at once:
// conformance/fork_thread_test.cpp.

#include <tenure/lifetime/lifetime.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/frame_clock.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/file_source.hpp>
#include <tenure/platform/page_source.hpp>

#include "support/child.hpp"
#include "support/process.hpp"

namespace {

using tenure::lifetime;
using tenure::temp_job;

int leaks = 0;
std::uint64_t oldest = 0;
void count_leak(const tenure::temp_job_leak& leak) noexcept {
    ++leaks;
    oldest = std::max(oldest, leak.age_frames);
}

class lifetime_child : public testing::Test {
protected:
    void SetUp() override {
        if (support::under_thread_sanitizer()) GTEST_SKIP() << "ThreadSanitizer follows no threads of a forked child";
    }
    /// Past one chunk, with a block that has a chunk of its own.
    void use() {
        for (int each = 0; each < 2000; ++each) blocks.push_back(tenure::allocate(100, lifetime::temp_job));
        blocks.push_back(tenure::allocate(50'000, lifetime::temp_job));
        for (void* const block : blocks) std::memset(block, 7, 100);
        scratch = static_cast<char*>(tenure::allocate(100, lifetime::temp));
        std::strcpy(scratch, "of a thread that the child does not have");
    }
    void TearDown() override {
        for (void* const block : blocks) tenure::deallocate(block, lifetime::temp_job);
    }
    std::vector<void*> blocks;
    char* scratch = nullptr;
};

TEST_F(lifetime_child, frees_blocks_of_threads_that_it_does_not_have) {
    const std::size_t before = temp_job::stats().live_count;
    const support::waiting_thread other([&] { use(); });
    const int answer = support::answer_of_child([&] {
        const bool is_same = temp_job::stats().live_count == before + blocks.size() && temp_job::valid();
        const bool is_readable = std::strcmp(scratch, "of a thread that the child does not have") == 0;
        bool are_kept = true;
        for (void* const block : blocks) {
            are_kept = are_kept && *static_cast<char*>(block) == 7 && temp_job::owns(block);
            tenure::deallocate(block, lifetime::temp_job);
        }
        const bool is_empty = temp_job::stats().live_count == before && temp_job::valid();
        const std::size_t held = temp_job::stats().chunk_bytes;
        const bool gives_back = temp_job::trim() != 0 && temp_job::stats().chunk_bytes < held;
        return (is_same ? 0 : 1) + (is_readable ? 0 : 2) + (are_kept ? 0 : 4) + (is_empty ? 0 : 8) +
               (gives_back ? 0 : 16);
    });
    EXPECT_EQ(answer, 0);
}

TEST_F(lifetime_child, reports_blocks_that_nobody_frees_once_at_their_age) {
    const support::waiting_thread other([&] { use(); });
    const std::uint64_t frame = tenure::frame_clock::now();
    const std::uint64_t limit = tenure::option_value(tenure::option::temp_job_frames);
    const int answer = support::answer_of_child([&] {
        temp_job::set_leak_handler(&count_leak);
        const bool goes_on = tenure::frame_clock::now() == frame;
        for (std::uint64_t each = 0; each < limit; ++each) tenure::next_frame();
        const bool is_patient = leaks == 0;
        for (int each = 0; each < 3; ++each) tenure::next_frame();
        const bool all_told = leaks == static_cast<int>(blocks.size()) && oldest == limit + 1;
        return (goes_on ? 0 : 1) + (is_patient ? 0 : 2) + (all_told ? 0 : 4);
    });
    EXPECT_EQ(answer, 0);
}

// The source keeps its chunks from the child: the child may still exit and run another program.
TEST_F(lifetime_child, touches_no_chunk_of_other_threads_at_its_begin) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("tenure-fork-" + std::to_string(static_cast<long>(::getpid())));
    tenure::file_source source(path.c_str());
    ASSERT_TRUE(source.is_open());
    tenure::temp_job::set_source(source);
    {
        std::vector<void*> theirs;
        const support::waiting_thread first([&] { theirs.push_back(temp_job::allocate(100)); });
        const support::waiting_thread other([&] {
            for (int each = 0; each < 2000; ++each) theirs.push_back(temp_job::allocate(100));
        });
        EXPECT_EQ(support::answer_of_child([] { return 0; }), 0);
        EXPECT_TRUE(temp_job::valid());
        for (void* const block : theirs) temp_job::deallocate(block);
    }
    tenure::temp_job::set_source(tenure::page_source::process());
    temp_job::trim();
}

TEST_F(lifetime_child, has_threads_of_its_own) {
    const support::waiting_thread other([&] { use(); });
    const int answer = support::answer_of_child([&] {
        bool is_good = true;
        for (int round = 0; round < 3; ++round) {
            support::on_fresh_thread([&] {
                void* const job = tenure::allocate(200, lifetime::temp_job);
                void* const temp = tenure::allocate(200, lifetime::temp);
                is_good = is_good && job != nullptr && temp != nullptr && tenure::temp::valid();
                tenure::deallocate(job, lifetime::temp_job);
            });
            tenure::next_frame();
        }
        return is_good && temp_job::valid() ? 0 : 1;
    });
    EXPECT_EQ(answer, 0);
}

}
