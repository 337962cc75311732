// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_memory.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/allocator.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/ledger.hpp"
#include "support/overruns.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using support::name_of;
using support::write;
using tenure::frame_memory;
using tenure::next_frame;
static_assert(tenure::allocator<frame_memory>);

TEST(frame_memory, a_block_keeps_its_contents_for_its_frames_and_is_used_again_after_them) {
    for (std::size_t frames = 1; frames <= 4; ++frames) {
        frame_memory memory(frames);
        auto* const block = static_cast<unsigned char*>(memory.allocate(1000));
        for (std::size_t frame = 0; frame < frames; ++frame) {
            std::memset(block, 5, 1000);
            EXPECT_GE(memory.stats().live_bytes, 1000u);
            for (int count = 0; count < 1000; ++count) {
                auto* const other = static_cast<unsigned char*>(memory.allocate(100));
                std::memset(other, 1, 100);
            }
            ASSERT_EQ(block[0], 5);
            ASSERT_EQ(block[999], 5);
            next_frame();
        }
        const std::size_t held = memory.stats().reserved_bytes;
        for (int frame = 0; frame < 20; ++frame) {
            for (int count = 0; count < 1000; ++count) ASSERT_NE(memory.allocate(100), nullptr);
            next_frame();
        }
        EXPECT_EQ(memory.stats().reserved_bytes, held) << "no frame needs more than the first ones";
    }
}

TEST(frame_memory, any_size_and_alignment_is_served) {
    frame_memory memory(2, tenure::page_source::process(), 4096);
    support::ledger ledger;
    for (std::size_t alignment = 1; alignment <= 65'536; alignment *= 4)
        for (std::size_t bytes : {0u, 1u, 17u, 1000u, 1024u, 4000u, 100'000u})
            ASSERT_EQ(ledger.add(static_cast<unsigned char*>(memory.allocate(bytes, alignment)), bytes, alignment), "");
    EXPECT_EQ(ledger.check_all(), "");
}

TEST(frame_memory, impossible_requests_are_refused) {
    const support::heard_reports heard; // checked builds report what is refused
    frame_memory memory;
    EXPECT_EQ(memory.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(memory.allocate(PTRDIFF_MAX), nullptr);
    EXPECT_EQ(memory.allocate(1, 3), nullptr);
    EXPECT_EQ(memory.allocate(1, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(memory.stats().reserved_bytes, 0u);
}

TEST(frame_memory, numbers_of_frames_out_of_range_are_refused) {
    const support::heard_reports heard; // checked builds report them
    tenure::counting_source source(tenure::page_source::process());
    for (const std::size_t frames : {std::size_t{0}, frame_memory::max_frames + 1, SIZE_MAX}) {
        frame_memory memory(frames, source);
        EXPECT_EQ(memory.frames(), 0u);
        for (const std::size_t bytes : {0u, 100u, 1'000'000u}) EXPECT_EQ(memory.allocate(bytes), nullptr);
        next_frame();
        EXPECT_EQ(memory.allocate(0), nullptr);
        EXPECT_EQ(memory.trim(), 0u);
        EXPECT_EQ(memory.stats().live_bytes, 0u);
    }
    EXPECT_EQ(source.peak_bytes(), 0u);
    EXPECT_EQ(frame_memory(frame_memory::max_frames).frames(), frame_memory::max_frames);
}

TEST(frame_memory, a_source_that_fails_is_a_refusal_and_later_requests_succeed) {
    tenure::failing_source source(tenure::page_source::process(), 1);
    frame_memory memory(2, source, 4096);
    EXPECT_NE(memory.allocate(100), nullptr);
    EXPECT_EQ(memory.allocate(10'000), nullptr);
    EXPECT_NE(memory.allocate(100), nullptr);
}

TEST(frame_memory, a_refusal_at_the_nth_request_changes_nothing) {
    constexpr std::size_t guards = frame_memory::guard_bytes;
    constexpr std::size_t blocks_per_chunk = 4, rest = 4096 - 64 - blocks_per_chunk * (912 + guards);
    for (std::size_t allowed = 0; allowed < 6; ++allowed) {
        tenure::failing_source source(tenure::page_source::process(), allowed);
        frame_memory memory(2, source, 4096);
        support::ledger ledger;
        std::size_t served = 0;
        while (auto* const block = static_cast<unsigned char*>(memory.allocate(900))) {
            ASSERT_EQ(ledger.add(block, 900, 16), "");
            ++served;
        }
        EXPECT_EQ(served, allowed * blocks_per_chunk);
        const tenure::allocator_stats before = memory.stats();
        for (std::size_t alignment = 1; alignment <= std::size_t{1} << 61; alignment *= 2)
            for (const std::size_t bytes : {400u, 900u, 1025u, 100'000u})
                ASSERT_EQ(memory.allocate(bytes, alignment), nullptr);
        const tenure::allocator_stats after = memory.stats();
        EXPECT_EQ(after.live_bytes, before.live_bytes);
        EXPECT_EQ(after.reserved_bytes, before.reserved_bytes);
        EXPECT_EQ(after.source_blocks, before.source_blocks);
        std::size_t small = 0;
        while (auto* const block = static_cast<unsigned char*>(memory.allocate(16))) {
            ASSERT_EQ(ledger.add(block, 16, 16), "");
            ++small;
        }
        EXPECT_EQ(small, allowed == 0 ? 0 : rest / (16 + guards)) << "the rest of the chunk is still there";
        EXPECT_EQ(ledger.check_all(), "");
    }
}

TEST(frame_memory, a_large_alignment_leaves_the_chunk_to_others) {
    frame_memory memory;
    auto* const first = static_cast<unsigned char*>(memory.allocate(16));
    void* const aligned = memory.allocate(16, 128 * 1024);
    EXPECT_TRUE(tenure::is_aligned(aligned, 128 * 1024));
    EXPECT_TRUE(memory.owns(aligned));
    EXPECT_EQ(memory.allocate(16), first + 16 + frame_memory::guard_bytes);
    EXPECT_TRUE(tenure::is_aligned(memory.allocate(16, 4096), 4096));
}

class frame_memory_overruns : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (support::under_address_sanitizer()) GTEST_SKIP() << "it stops at the write";
    }
    static void expect_one(const support::heard_reports& heard, const std::string& words) {
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_NE(heard.last().find(words), std::string::npos) << heard.last();
    }
};

TEST_F(frame_memory_overruns, an_overrun_block_is_named_when_its_memory_is_used_again) {
    frame_memory memory(2);
    const support::heard_reports heard;
    static_cast<void>(memory.allocate(40));
    void* const block = memory.allocate(100);
    static_cast<void>(memory.allocate(40, 64));
    write(block, 2, 101);
    for (int frame = 0; frame < 2; ++frame) {
        EXPECT_EQ(heard.count(), 0u) << heard.last();
        next_frame();
    }
    static_cast<void>(memory.allocate(1));
    expect_one(heard, "a frame_memory block of 100 bytes was overrun: " + name_of(block) +
                          ". Behind its end, byte 100 was overwritten.");
    next_frame();
    next_frame();
    static_cast<void>(memory.allocate(1));
    EXPECT_EQ(heard.count(), 1u) << heard.last();
}

TEST_F(frame_memory_overruns, a_write_in_front_of_a_block_is_reported) {
    frame_memory memory(1);
    const support::heard_reports heard;
    static_cast<void>(memory.allocate(40));
    void* const block = memory.allocate(100);
    write(static_cast<char*>(block) - 4, 2, 4);
    next_frame();
    EXPECT_GT(memory.trim(), 0u);
    expect_one(heard, "memory in front of a frame_memory block was overwritten: " + name_of(block));
}

TEST_F(frame_memory_overruns, the_end_of_the_memory_names_an_overrun_block_of_any_size) {
    for (const std::size_t bytes : {0u, 1u, 16u, 1000u, 500'000u}) {
        for (const std::size_t alignment : {1u, 16u, 64u, 4096u}) {
            const support::heard_reports heard;
            {
                frame_memory memory(3);
                static_cast<void>(memory.allocate(40));
                void* const block = memory.allocate(bytes, alignment);
                write(block, 1, bytes);
                write(static_cast<char*>(block) + bytes + (bytes == 0), 2, 1);
            }
            expect_one(heard, "a frame_memory block of " + std::to_string(bytes + (bytes == 0)) + " bytes was overrun");
        }
    }
}

TEST_F(frame_memory_overruns, whole_blocks_may_be_written) {
    const support::heard_reports heard;
    {
        frame_memory memory(2, tenure::page_source::process(), 4096);
        for (int frame = 0; frame < 6; ++frame) {
            for (std::size_t bytes = 1; bytes < 3000; bytes += 7)
                write(memory.allocate(bytes, std::size_t{1} << bytes % 9), frame, bytes);
            next_frame();
        }
    }
    EXPECT_EQ(heard.count(), 0u) << heard.last();
}

TEST(frame_memory_under_sanitizer, the_write_itself_is_reported) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!support::under_address_sanitizer() || !tenure::checks::caller) GTEST_SKIP() << "not in this build";
    frame_memory memory;
    auto* const block = static_cast<volatile char*>(memory.allocate(100));
    EXPECT_DEATH(block[100] = 1, "use-after-poison");
    EXPECT_DEATH(block[-4] = 1, "use-after-poison");
}

TEST(frame_memory, trim_returns_what_no_frame_uses) {
    tenure::counting_source source(tenure::page_source::process());
    {
        frame_memory memory(2, source);
        void* const early = memory.allocate(100'000);
        next_frame();
        void* const late = memory.allocate(1000);
        EXPECT_EQ(memory.trim(), 0u);
        EXPECT_TRUE(memory.owns(early));
        next_frame();
        EXPECT_GE(memory.trim(), 100'000u);
        EXPECT_FALSE(memory.owns(early));
        EXPECT_TRUE(memory.owns(late));
        EXPECT_FALSE(memory.owns(&source));
    }
    EXPECT_EQ(source.live_bytes(), 0u);
}

TEST(frame_memory, the_copies_of_a_buffered_object_take_turns) {
    tenure::frame_buffered<int, 3> value;
    for (int frame = 0; frame < 10; ++frame) {
        value.current() = frame;
        if (frame >= 2) {
            EXPECT_EQ(value.previous(), frame - 1);
            EXPECT_EQ(value.previous(2), frame - 2);
        }
        next_frame();
    }
    EXPECT_EQ(value.previous(), 9);
}

}
