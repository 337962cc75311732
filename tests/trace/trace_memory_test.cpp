// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// How much memory a trace takes while it is read, whatever its file says. This file replaces operator new, to count.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "observe/trace/part/older_blocks.hpp"
#include "observe/trace/part/trace_part.hpp"
#include "observe/trace/trace_reader.hpp"
#include "support/temporary_folder.hpp"
#include "trace/raw_trace.hpp"
#include "trace/trace_order.hpp"

namespace {

std::atomic<std::size_t> in_use{0}, most_in_use{0};

void* allocate(std::size_t bytes) noexcept {
    void* const block = std::malloc(bytes == 0 ? 1 : bytes);
    if (block == nullptr) return nullptr;
    const std::size_t now = in_use += ::malloc_usable_size(block);
    std::size_t most = most_in_use;
    while (now > most && !most_in_use.compare_exchange_weak(most, now)) {}
    return block;
}

void deallocate(void* block) noexcept {
    if (block != nullptr) in_use -= ::malloc_usable_size(block);
    std::free(block);
}

}

void* operator new(std::size_t bytes) {
    void* const block = allocate(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { deallocate(block); }
void operator delete(void* block, std::size_t) noexcept { deallocate(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { deallocate(block); }

namespace {

using namespace tenure::lab;

constexpr int allocation_kind = 0;
constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t from_ns = 500'000, to_ns = 900'000;

/// The most bytes that were in use at a time while this ran, above those before.
template<class Run>
std::size_t bytes_of(Run&& run) {
    const std::size_t before = in_use;
    most_in_use = before;
    run();
    return most_in_use - before;
}

/// A file whose first chunk is before the part from from_ns to to_ns. That has `later` allocations.
std::string file_of(const raw_chunk& before, int later, std::uint32_t stack_frames = 0) {
    const std::uint64_t number = before.next();
    raw_chunk first(0, 1, number, 400'000), part(0, 2, number, 600'000);
    for (int i = 0; i < later; ++i) {
        part.allocate(allocation_kind, 8);
        if (stack_frames != 0) part.number(1);
    }
    return raw_trace({before, first, part}, stack_frames);
}

class trace_memory : public testing::Test {
protected:
    [[nodiscard]] trace part_of(const std::string& bytes, const trace_limits& limits) const {
        const std::string path = folder_.path() / "a.trace";
        std::ofstream(path, std::ios::binary) << bytes;
        trace found = load_part(path, from_ns, to_ns, limits);
        EXPECT_EQ(broken_promise(found), "");
        return found;
    }

    support::temporary_folder folder_;
};

raw_chunk blocks_before(int count, int freed = 0) {
    raw_chunk before(0, 0, 0, 2000);
    for (int i = 0; i < freed; ++i) before.allocate(allocation_kind, 8).free_own(before.next() - 1);
    for (int i = 0; i < count; ++i) before.allocate(allocation_kind, 8);
    return before;
}

TEST_F(trace_memory, a_part_takes_so_many_bytes_for_each_block_before_it) {
    constexpr int blocks = 100'000;
    const std::string file = file_of(blocks_before(blocks), 10);
    trace part;
    const std::size_t bytes = bytes_of([&] { part = part_of(file, {}); });
    EXPECT_EQ(part.older_blocks, std::uint64_t{blocks});
    EXPECT_EQ(part.events.size(), std::size_t{blocks} + 10);
    EXPECT_EQ(part.damage, "");
    EXPECT_LT(bytes, blocks * older_blocks::bytes_of_block + mib);
}

TEST_F(trace_memory, blocks_before_a_part_count_with_what_they_take) {
    const trace_limits limits{.events = 1500}; // memory for 500 blocks before it
    const std::string fits = file_of(blocks_before(490, 1000), 20), exceeds = file_of(blocks_before(510, 1000), 20);
    EXPECT_EQ(part_of(fits, limits).damage, "");
    EXPECT_EQ(part_of(fits, limits).older_blocks, 490u);
    const std::string why = part_of(exceeds, limits).damage;
    EXPECT_NE(why.find("more than 1500 events"), std::string::npos) << "the file is read whole: " << why;
}

TEST_F(trace_memory, the_part_has_what_the_blocks_before_it_leave) {
    const trace_limits limits{.events = 1500};
    EXPECT_EQ(part_of(file_of(blocks_before(400), 600), limits).damage, "");
    const trace part = part_of(file_of(blocks_before(400), 1000), limits);
    EXPECT_NE(part.damage.find("does not fit into memory"), std::string::npos) << part.damage;
    EXPECT_EQ(part.events.size(), 1100u) << "an event for each block, and as much for its place";
}

/// Few bytes, once the file is packed: 200 stacks with 4000 frames each.
raw_chunk deep_stacks() {
    raw_chunk made(0, 0, 0, 2000);
    for (std::uint32_t id = 1; id <= 200; ++id) made.stack(id, std::vector<std::uint64_t>(4000, 0x1000 + id));
    return made;
}
constexpr std::uint64_t deep_bytes = 200 * 4000 * 8;

TEST_F(trace_memory, call_stacks_are_in_memory_once) {
    const std::string file = file_of(deep_stacks(), 10, 8);
    trace read;
    EXPECT_LT(bytes_of([&] { read = read_trace(file, {.stack_bytes = 8 * mib}); }), deep_bytes + mib);
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(read.stacks.size(), 201u);
    EXPECT_EQ(read.stacks[read.events.back().stack].frames.size(), 4000u);
    read = {};
    EXPECT_LT(bytes_of([&] { read = part_of(file, {.stack_bytes = 8 * mib}); }), deep_bytes + 3 * mib);
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(read.stacks.size(), 201u);
    EXPECT_EQ(read.stacks[read.events.back().stack].frames.size(), 4000u);
}

TEST_F(trace_memory, call_stacks_have_a_limit) {
    const std::string file = file_of(deep_stacks(), 10, 8);
    trace read;
    EXPECT_LT(bytes_of([&] { read = read_trace(file, {.stack_bytes = mib}); }), 2 * mib);
    EXPECT_NE(read.damage.find("more call stacks than fit into memory"), std::string::npos) << read.damage;
    EXPECT_LT(read.stacks.size(), 34u) << "a mebibyte";
    EXPECT_EQ(read.events.size(), 10u) << "events stay";
    read = {};
    EXPECT_LT(bytes_of([&] { read = part_of(file, {.stack_bytes = mib}); }), 5 * mib);
    EXPECT_NE(read.damage.find("more call stacks than fit into memory"), std::string::npos) << read.damage;
    EXPECT_EQ(read.events.size(), 10u);
}

TEST_F(trace_memory, many_numbers_of_one_call_stack_have_a_limit) {
    raw_chunk before(0, 0, 0, 2000);
    for (std::uint32_t id = 1; id <= 50'000; ++id) before.stack(id, {0x1000});
    const std::string file = file_of(before, 10, 8);
    trace read;
    EXPECT_LT(bytes_of([&] { read = read_trace(file, {.stack_bytes = mib}); }), 2 * mib);
    EXPECT_NE(read.damage.find("more call stacks than fit into memory"), std::string::npos) << read.damage;
    EXPECT_EQ(read.stacks.size(), 2u);
    EXPECT_EQ(read.stacks[read.events.back().stack].frames.size(), 1u) << "known from before the limit";
}

}
