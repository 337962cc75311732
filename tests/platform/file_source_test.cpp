// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_source.hpp>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/heap/heap.hpp>

namespace {

class file_sources : public testing::Test {
protected:
    std::string path_ =
        (std::filesystem::temp_directory_path() / ("tenure-file-source-" + std::to_string(::getpid()))).string();
    tenure::file_source source_{path_.c_str()};
};

TEST_F(file_sources, blocks_are_whole_aligned_and_zero_again_after_a_decommit) {
    ASSERT_TRUE(source_.is_open());
    EXPECT_FALSE(std::filesystem::exists(path_)) << "it goes with the process";
    auto* const block = static_cast<unsigned char*>(source_.acquire(3 << 20, 1 << 21));
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(tenure::is_aligned(block, 1 << 21));
    EXPECT_EQ(block[12345], 0);
    std::memset(block, 7, 3 << 20);
    auto* const other = static_cast<unsigned char*>(source_.acquire(100, 16));
    std::memset(other, 8, 100);
    EXPECT_EQ(block[(3 << 20) - 1], 7);
    if (source_.decommit(block + 100, 1 << 20)) { // where the file system can make holes
        EXPECT_EQ(block[8192], 0);
        EXPECT_EQ(block[100], 7) << "whole pages only";
    }
    source_.release(block, 3 << 20);
    EXPECT_EQ(other[99], 8);
    source_.release(other, 100);
    EXPECT_EQ(source_.acquire(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(source_.acquire(4096, std::size_t{1} << 63), nullptr);
}

TEST_F(file_sources, what_cannot_be_opened_refuses) {
    tenure::file_source nowhere("/no/such/folder/file");
    EXPECT_FALSE(nowhere.is_open());
    EXPECT_EQ(nowhere.acquire(4096, 1), nullptr);
}

TEST_F(file_sources, a_heap_lives_in_a_file_and_threads_extend_it) {
    tenure::heap tested({.name = "file"}, source_);
    std::vector<std::thread> threads;
    for (std::size_t thread = 1; thread <= 3; ++thread) {
        threads.emplace_back([&, thread] {
            std::vector<unsigned char*> blocks;
            std::vector<std::size_t> sizes;
            for (std::size_t bytes = thread; bytes < 40'000'000; bytes += bytes / 2 + 1) {
                blocks.push_back(static_cast<unsigned char*>(tested.allocate(bytes)));
                ASSERT_NE(blocks.back(), nullptr);
                sizes.push_back(bytes);
                blocks.back()[0] = blocks.back()[bytes - 1] = static_cast<unsigned char>(bytes);
            }
            for (std::size_t each = 0; each < blocks.size(); ++each) {
                EXPECT_EQ(blocks[each][sizes[each] - 1], static_cast<unsigned char>(sizes[each]));
                tested.deallocate(blocks[each]);
            }
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

}
