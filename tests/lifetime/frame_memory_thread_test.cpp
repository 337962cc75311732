// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_memory.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

namespace {

TEST(frame_memory_threads, blocks_of_one_frame_never_overlap_while_frames_end) {
    tenure::frame_memory memory(3, tenure::page_source::process(), 4096);
    std::atomic<bool> is_over{false};
    std::atomic<int> torn{0};
    std::vector<std::thread> workers;
    for (std::uint64_t number = 1; number <= 4; ++number) {
        workers.emplace_back([&, number] {
            for (std::uint64_t round = 0; !is_over.load(std::memory_order_relaxed); ++round) {
                const std::uint64_t frame = tenure::frame_clock::now();
                constexpr std::size_t words = 24;
                auto* const block = static_cast<std::uint64_t*>(memory.allocate(words * sizeof(std::uint64_t)));
                if (block == nullptr) continue;
                // Written and read only while it is certain to be valid: the frame in which it began still runs.
                const std::uint64_t mark = number << 56 | round;
                bool is_good = true;
                for (std::size_t index = 0; index < words; ++index)
                    reinterpret_cast<std::atomic<std::uint64_t>*>(block + index)->store(mark);
                for (std::size_t index = 0; index < words; ++index)
                    is_good &= reinterpret_cast<std::atomic<std::uint64_t>*>(block + index)->load() == mark;
                if (!is_good && tenure::frame_clock::now() < frame + 3) torn.fetch_add(1);
            }
        });
    }
    for (int frame = 0; frame < 300; ++frame) {
        std::this_thread::yield();
        tenure::next_frame();
    }
    is_over.store(true);
    for (std::thread& each : workers) each.join();
    EXPECT_EQ(torn.load(), 0);
}

TEST(frame_memory_threads, a_later_frame_reads_what_another_thread_wrote) {
    tenure::frame_memory memory(2);
    for (int frame = 0; frame < 100; ++frame) {
        int* result = nullptr;
        std::thread worker([&] {
            result = static_cast<int*>(memory.allocate(sizeof(int)));
            if (result != nullptr) *result = frame;
        });
        worker.join();
        ASSERT_NE(result, nullptr);
        tenure::next_frame();
        ASSERT_EQ(*result, frame);
    }
}

}
