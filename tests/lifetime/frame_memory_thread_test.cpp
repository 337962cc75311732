// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/frame_memory.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/lifetime/lifetime.hpp>

namespace {

TEST(frame_memory_threads, blocks_of_one_frame_never_overlap_while_frames_end) {
    constexpr std::uint64_t frames = 3, nobody = UINT64_MAX;
    constexpr std::size_t worker_count = 4, words = 24;
    tenure::frame_memory memory(frames, tenure::page_source::process(), 4096);
    std::atomic<bool> is_over{false};
    std::atomic<int> torn{0};
    // The frame of the block that a worker uses: frames do not go on past its end. Allocations are not held back.
    std::array<std::atomic<std::uint64_t>, worker_count> used{};
    for (auto& each : used) each.store(nobody);
    std::vector<std::thread> workers;
    for (std::size_t number = 0; number < worker_count; ++number) {
        workers.emplace_back([&, number] {
            for (std::uint64_t round = 0; !is_over.load(std::memory_order_relaxed); ++round) {
                const std::uint64_t frame = tenure::frame_clock::now();
                auto* const block =
                    static_cast<std::atomic<std::uint64_t>*>(memory.allocate(words * sizeof(std::uint64_t)));
                if (block == nullptr) continue;
                used[number].store(frame);
                // One step may be under way that did not see this block.
                if (tenure::frame_clock::now() < frame + frames - 1) {
                    const std::uint64_t mark = (number + 1) << 56 | round;
                    bool is_good = true;
                    for (std::size_t index = 0; index < words; ++index) block[index].store(mark);
                    for (std::size_t index = 0; index < words; ++index) is_good &= block[index].load() == mark;
                    if (!is_good) torn.fetch_add(1);
                }
                used[number].store(nobody);
            }
        });
    }
    for (int frame = 0; frame < 300; ++frame) {
        const std::uint64_t next = tenure::frame_clock::now() + 1;
        for (const auto& each : used) {
            // A worker that is behind already does not write.
            for (std::uint64_t at = each.load(); at != nobody && next == at + frames; at = each.load())
                std::this_thread::yield();
        }
        tenure::next_frame();
        std::this_thread::sleep_for(std::chrono::microseconds{500}); // the workers allocate in each frame
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
