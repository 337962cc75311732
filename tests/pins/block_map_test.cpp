// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/blocks/record/block_map.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/profile/section_writer.hpp>
#include <tenure/platform/memory.hpp>

#include "observe/blocks/record/saved_pages.hpp"
#include "observe/profile/saved_profile.hpp"
#include "support/own_path.hpp"
#include "support/random.hpp"

namespace tenure::lab::blocks {

namespace {

namespace format = profile_format;

constexpr std::uintptr_t page = format::page_bytes, region = std::uintptr_t{2} << 20;
constexpr std::uintptr_t begin = std::uintptr_t{5} << 30; // of a leaf; nothing is read there

void expect(const block_map& map, std::uintptr_t address, std::uint32_t live_bytes, std::uint32_t blocks) {
    const page_figures found = map.at(address);
    EXPECT_EQ(found.live_bytes, live_bytes) << std::hex << address;
    EXPECT_EQ(found.blocks, blocks) << std::hex << address;
}

class block_map_test : public testing::Test {
protected:
    std::unique_ptr<block_map> map_ = std::make_unique<block_map>();
};

TEST_F(block_map_test, a_block_counts_in_each_of_its_pages) {
    block_map& map = *map_;
    EXPECT_FALSE(map.at(begin).had_blocks);
    EXPECT_TRUE(map.add(pointer_at(begin + 16), 200));
    EXPECT_TRUE(map.add(pointer_at(begin + page - 100), 300));
    expect(map, begin, 300, 2);
    expect(map, begin + page, 200, 1);
    EXPECT_TRUE(map.remove(pointer_at(begin + page - 100), 300));
    expect(map, begin + 5, 200, 1);
    expect(map, begin + page, 0, 0);
    EXPECT_TRUE(map.at(begin + page).had_blocks);
    EXPECT_FALSE(map.at(begin + 2 * page).had_blocks);
}

TEST_F(block_map_test, a_block_counts_once_and_an_unknown_one_not_at_all) {
    block_map& map = *map_;
    EXPECT_TRUE(map.add(pointer_at(begin + 8), 24));
    EXPECT_FALSE(map.add(pointer_at(begin + 8), 24)) << "operator new calls malloc";
    EXPECT_TRUE(map.contains(pointer_at(begin + 8)));
    EXPECT_FALSE(map.contains(pointer_at(begin + 16)));
    EXPECT_FALSE(map.remove(pointer_at(begin + 16), 24)) << "allocated by a call that was not seen";
    EXPECT_FALSE(map.remove(pointer_at(begin + 7 * region), 24)) << "no leaf";
    expect(map, begin, 24, 1);
    EXPECT_TRUE(map.remove(pointer_at(begin + 8), 24));
    EXPECT_FALSE(map.remove(pointer_at(begin + 8), 24));
    expect(map, begin, 0, 0);
    EXPECT_FALSE(map.add(pointer_at(UINTPTR_MAX - 4095), 8)) << "no address of a program";
}

TEST_F(block_map_test, a_block_of_many_pages_counts_by_regions) {
    block_map& map = *map_;
    // From the middle of a region over the end of a leaf.
    const std::uintptr_t first = begin + block_map::leaf_bytes - 3 * region - 5000, bytes = 5 * region;
    EXPECT_TRUE(map.add(pointer_at(first), bytes));
    expect(map, first, page - first % page, 1);
    for (const std::uintptr_t at : {first + page, begin + block_map::leaf_bytes, first + bytes - 2 * page})
        expect(map, at, page, 1);
    expect(map, first + bytes - 1, std::uint32_t((first + bytes) % page), 1);
    expect(map, first - page, 0, 0);
    expect(map, first + bytes + page, 0, 0);
    EXPECT_TRUE(map.remove(pointer_at(first), bytes));
    EXPECT_TRUE(map.at(first + region).had_blocks);
    EXPECT_EQ(map.at(first + region).blocks, 0u);
    EXPECT_TRUE(map.add(pointer_at(first), 32));
    map.forget(first, bytes);
    EXPECT_TRUE(map.at(first).had_blocks) << "it has one";
    for (const std::uintptr_t at : {first + page, first + region, first + bytes - 1})
        EXPECT_FALSE(map.at(at).had_blocks);
}

// Random blocks that do not overlap, against a list of them.
TEST_F(block_map_test, agrees_with_a_list_of_blocks) {
    block_map& map = *map_;
    support::random numbers(7);
    std::map<std::uintptr_t, std::size_t> blocks;
    constexpr std::uintptr_t places = 400, distance = 40'000;
    for (int step = 0; step < 20'000; ++step) {
        const std::uintptr_t at = begin + numbers.below(places) * distance;
        if (const auto known = blocks.find(at); known != blocks.end()) {
            EXPECT_TRUE(map.remove(pointer_at(at), known->second));
            blocks.erase(known);
        } else {
            const std::size_t bytes = 8 * (1 + numbers.below(distance / 8));
            EXPECT_TRUE(map.add(pointer_at(at), bytes));
            blocks[at] = bytes;
        }
    }
    std::map<std::uintptr_t, page_figures> wanted;
    for (const auto& [block, bytes] : blocks) {
        for (std::uintptr_t at = block; at < block + bytes; at = align_down(at, page) + page) {
            page_figures& figures = wanted[align_down(at, page)];
            figures.live_bytes += std::uint32_t(std::min(block + bytes, align_down(at, page) + page) - at);
            ++figures.blocks;
        }
    }
    for (std::uintptr_t at = begin; at < begin + places * distance; at += page)
        expect(map, at, wanted[at].live_bytes, wanted[at].blocks);
}

TEST_F(block_map_test, threads_share_pages) {
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int turn = 0; turn < 5'000; ++turn) {
                for (std::uintptr_t each = 0; each < 16; ++each)
                    map_->add(pointer_at(begin + each * 1000 + thread * 200), 152);
                for (std::uintptr_t each = 1; each < 16; ++each)
                    map_->remove(pointer_at(begin + each * 1000 + thread * 200), 152);
                if (turn != 4'999) map_->remove(pointer_at(begin + thread * 200), 152);
            }
        });
    }
    for (std::thread& each : threads) each.join();
    expect(*map_, begin, 4 * 152, 4);
    expect(*map_, begin + page, 0, 0);
}

/// A file with the pages of a map, read back.
saved_profile saved(const block_map& map) {
    const std::string path = support::own_path("block-map.heapprofile");
    auto writer = std::make_unique<detail::section_writer>(path);
    format::file_header header{};
    std::copy(std::begin(format::magic), std::end(format::magic), header.magic);
    header.version = format::version;
    header.header_bytes = sizeof header;
    header.mean_bytes = 1;
    writer->words(&header, sizeof header);
    write_pages(map, "/lib/libother.so", *writer);
    EXPECT_TRUE(writer->finish());
    saved_profile read = load_profile(path);
    std::filesystem::remove(path);
    EXPECT_TRUE(read.ok()) << read.error;
    return read;
}

TEST_F(block_map_test, resident_pages_that_have_had_blocks_are_saved) {
    constexpr std::size_t bytes = 64 * page;
    auto* const memory = static_cast<char*>(platform::map(bytes, page));
    ASSERT_NE(memory, nullptr);
    const std::uintptr_t at = address_of(memory);
    for (const std::size_t each : {0u, 1u, 2u, 3u, 4u, 40u}) memory[each * page] = 1;
    map_->add(memory + 16, 200);
    map_->add(memory + 256, 200);
    map_->add(memory + page, 2 * page);
    map_->add(memory + 4 * page, 64);
    map_->remove(memory + 4 * page, 64);
    map_->add(memory + 20 * page, 64); // not in memory
    const saved_profile read = saved(*map_);
    EXPECT_EQ(read.malloc_file, "/lib/libother.so");
    std::vector<format::page_run> found;
    for (const format::page_run& each : read.pages)
        if (each.address >= at && each.address < at + bytes) found.push_back(each);
    platform::unreserve(memory, bytes);
    ASSERT_EQ(found.size(), 3u) << "pages 3 and 40 never had a block";
    EXPECT_EQ(found[0].use, format::page_use::small_blocks);
    EXPECT_EQ(found[0].live_bytes, 400u);
    EXPECT_EQ(found[0].blocks, 2u);
    EXPECT_EQ(found[0].block_bytes, 0u) << "any size";
    EXPECT_EQ(found[1].use, format::page_use::large_block);
    EXPECT_EQ(found[1].pages, 2u);
    EXPECT_EQ(found[2].use, format::page_use::free);
    EXPECT_EQ(found[2].address, at + 4 * page);
}

TEST_F(block_map_test, a_map_without_blocks_is_a_file_with_pages) {
    const saved_profile read = saved(*map_);
    EXPECT_TRUE(read.pages.empty());
    EXPECT_TRUE(read.has_pages());
}

}

}
