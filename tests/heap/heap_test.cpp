// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/allocator.hpp>
#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/static_buffer_source.hpp>

#include "support/random.hpp"
#include "support/reports.hpp"
#include "support/units.hpp"

namespace {

using support::mebibyte;
using tenure::fill;
using tenure::heap;
using tenure::heap_options;

static_assert(tenure::allocator<heap>);

class heaps : public testing::Test {
protected:
    tenure::counting_source source_{tenure::page_source::process()};
};

struct held {
    unsigned char* at;
    std::size_t bytes;
    unsigned char stamp;
};

void stamp(const held& block) {
    for (std::size_t at = 0; at < block.bytes; at += 1000) block.at[at] = block.stamp;
    if (block.bytes != 0) block.at[block.bytes - 1] = block.stamp;
}

[[nodiscard]] bool holds(const held& block, std::size_t bytes) {
    for (std::size_t at = 0; at < std::min(bytes, block.bytes); at += 1000) {
        if (block.at[at] != block.stamp) return false;
    }
    return bytes < block.bytes || block.bytes == 0 || block.at[block.bytes - 1] == block.stamp;
}

/// Sizes of all kinds, small ones most often.
std::size_t some_bytes(support::random& numbers) {
    switch (numbers.below(20)) {
    case 0: return numbers.below(5 * mebibyte);
    case 1: return numbers.below(40 * mebibyte);
    case 2:
    case 3: return numbers.below(100'000);
    case 4: return 0;
    default: return numbers.below(1500);
    }
}

TEST_F(heaps, random_operations_agree_with_a_model) {
    support::random numbers(support::new_seed());
    {
        heap tested({}, source_);
        std::vector<held> alive;
        for (int step = 0; step < 8000; ++step) {
            const std::uint64_t kind = numbers.below(10);
            if (kind < 5 && alive.size() < 300) {
                const std::size_t bytes = some_bytes(numbers);
                const std::size_t alignment =
                    numbers.one_in(4) ? std::size_t{1} << numbers.below(numbers.one_in(10) ? 27 : 15) : 16;
                const fill how = numbers.one_in(5) ? fill::zero : fill::none;
                auto* const block = static_cast<unsigned char*>(tested.allocate(bytes, alignment, how));
                ASSERT_NE(block, nullptr);
                ASSERT_EQ(tenure::address_of(block) % alignment, 0u);
                ASSERT_GE(tested.usable_size(block), bytes);
                ASSERT_TRUE(tested.owns(block) && tested.owns(block + bytes / 2));
                for (std::size_t at = 0; how == fill::zero && at < bytes; at += 61) ASSERT_EQ(block[at], 0);
                alive.push_back({block, bytes, static_cast<unsigned char>(step)});
                stamp(alive.back());
            } else if (kind < 8 && !alive.empty()) {
                held& block = alive[numbers.below(alive.size())];
                ASSERT_TRUE(holds(block, block.bytes));
                tested.deallocate(block.at);
                block = alive.back();
                alive.pop_back();
            } else if (!alive.empty()) {
                held& block = alive[numbers.below(alive.size())];
                const std::size_t bytes = numbers.one_in(2) ? some_bytes(numbers) : block.bytes + block.bytes / 3;
                if (kind == 8 && tested.resize(block.at, bytes)) {
                    ASSERT_TRUE(holds(block, bytes));
                } else {
                    block.at = static_cast<unsigned char*>(tested.reallocate(block.at, bytes));
                    ASSERT_NE(block.at, nullptr);
                    ASSERT_TRUE(holds(block, bytes));
                }
                block.bytes = bytes;
                stamp(block);
            }
            if (step % 50 == 0) {
                ASSERT_TRUE(tested.valid());
                ASSERT_EQ(tested.stats().live_count, alive.size());
            }
            if (step % 999 == 0) tested.trim();
        }
        std::map<void*, std::size_t> seen;
        tested.walk([&](void* block, std::size_t bytes) { seen[block] = bytes; });
        ASSERT_EQ(seen.size(), alive.size());
        for (const held& block : alive) ASSERT_GE(seen[block.at], block.bytes);
        for (const held& block : alive) {
            ASSERT_TRUE(holds(block, block.bytes));
            tested.deallocate(block.at);
        }
        EXPECT_EQ(tested.stats().live_count, 0u);
        EXPECT_EQ(tested.stats().live_bytes, 0u);
        tested.trim();
        EXPECT_EQ(source_.live_blocks(), 0u);
        EXPECT_EQ(tested.stats().reserved_bytes, 0u);
    }
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(heaps, blocks_of_every_size_are_freed_with_it) {
    heap tested({}, source_);
    for (std::size_t bytes = 0; bytes < 70'000; bytes += 1 + bytes / 50) {
        for (const std::size_t alignment : {1u, 4u, 8u, 16u, 64u, 4096u}) {
            void* blocks[20];
            for (void*& block : blocks) {
                block = tested.allocate(bytes, alignment);
                ASSERT_EQ(tenure::address_of(block) % alignment, 0u);
                std::memset(block, 0x5A, bytes);
            }
            for (void* const block : blocks) tested.deallocate(block, bytes, alignment);
        }
    }
    EXPECT_EQ(tested.stats().live_count, 0u);
    EXPECT_TRUE(tested.valid());
}

TEST_F(heaps, what_cannot_be_is_refused_and_changes_nothing) {
    const support::heard_reports heard; // checked builds report what is refused
    heap tested({}, source_);
    EXPECT_EQ(tested.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(tested.allocate(SIZE_MAX - 100, 16), nullptr);
    EXPECT_EQ(tested.allocate(PTRDIFF_MAX), nullptr);
    EXPECT_EQ(tested.allocate(10, 24), nullptr);
    EXPECT_EQ(tested.allocate(10, 0), nullptr);
    EXPECT_EQ(tested.allocate(100'000, 48), nullptr);
    EXPECT_EQ(tested.allocate(10, std::size_t{1} << 63), nullptr);
    void* const block = tested.allocate(100);
    std::memset(block, 1, 100);
    EXPECT_EQ(tested.reallocate(block, SIZE_MAX / 2), nullptr);
    EXPECT_EQ(tested.reallocate(block, 100, 3), nullptr);
    EXPECT_FALSE(tested.resize(block, SIZE_MAX));
    EXPECT_EQ(static_cast<char*>(block)[99], 1);
    EXPECT_EQ(tested.stats().live_count, 1u);
    tested.deallocate(block);
    tested.deallocate(nullptr);
    tested.deallocate(nullptr, 10);
    EXPECT_EQ(tested.usable_size(nullptr), 0u);
    EXPECT_FALSE(tested.owns(nullptr));
    EXPECT_FALSE(tested.owns(&tested));
}

TEST_F(heaps, what_is_free_makes_room_for_any_size_below_the_limit) {
    constexpr std::size_t limit = std::size_t{4} << 20;
    for (const std::size_t small : {std::size_t{48}, std::size_t{1000}, std::size_t{100'000}}) {
        heap tested({.limit_bytes = limit});
        for (const std::size_t wanted : {std::size_t{300'000}, std::size_t{1} << 20, std::size_t{3} << 20}) {
            std::vector<void*> blocks;
            while (void* const block = tested.allocate(small, 16)) blocks.push_back(block);
            EXPECT_EQ(tested.allocate(wanted, 16), nullptr);
            for (void* const block : blocks) tested.deallocate(block);
            void* const large = tested.allocate(wanted, 16);
            EXPECT_NE(large, nullptr) << wanted << " bytes after blocks of " << small;
            tested.deallocate(large);
        }
    }
}

TEST_F(heaps, a_refusal_at_any_request_leaves_the_heap_as_it_was) {
    for (std::uint64_t allowed = 0; allowed < 12; ++allowed) {
        tenure::failing_source failing(source_, allowed);
        heap tested({}, failing);
        std::vector<held> alive;
        support::random numbers(allowed + 1);
        int refused = 0;
        for (int step = 0; step < 400; ++step) {
            const std::size_t bytes = some_bytes(numbers);
            auto* const block = static_cast<unsigned char*>(tested.allocate(bytes));
            if (block != nullptr) {
                alive.push_back({block, bytes, static_cast<unsigned char>(step)});
                stamp(alive.back());
            } else {
                ++refused;
            }
            if (!alive.empty() && numbers.one_in(3)) {
                held& other = alive[numbers.below(alive.size())];
                const std::size_t other_bytes = some_bytes(numbers);
                void* const moved = tested.reallocate(other.at, other_bytes);
                const held found{moved != nullptr ? static_cast<unsigned char*>(moved) : other.at, other.bytes,
                                 other.stamp};
                ASSERT_TRUE(holds(found, moved != nullptr ? other_bytes : other.bytes));
                if (moved != nullptr) {
                    other = {static_cast<unsigned char*>(moved), other_bytes, other.stamp};
                    stamp(other);
                }
            }
        }
        EXPECT_GT(refused, 0);
        EXPECT_TRUE(tested.valid());
        EXPECT_EQ(tested.stats().live_count, alive.size());
        for (const held& block : alive) {
            ASSERT_TRUE(holds(block, block.bytes));
            tested.deallocate(block.at);
        }
        EXPECT_EQ(tested.stats().live_count, 0u);
    }
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(heaps, a_heap_keeps_its_limit_and_goes_on_after_it) {
    heap tested({.limit_bytes = 16 * mebibyte}, source_);
    std::vector<void*> blocks;
    while (void* const block = tested.allocate(1000)) blocks.push_back(block);
    EXPECT_LE(tested.stats().reserved_bytes, 16 * mebibyte);
    EXPECT_GT(blocks.size(), 12'000u);
    EXPECT_EQ(tested.allocate(100'000), nullptr);
    for (void* const block : blocks) tested.deallocate(block);
    void* const large = tested.allocate(1'500'000); // empty pages make room
    EXPECT_NE(large, nullptr);
    EXPECT_EQ(tested.allocate(16 * mebibyte), nullptr);
    tested.deallocate(large);
    blocks.clear();
    while (void* const block = tested.allocate(1'000'000)) blocks.push_back(block);
    for (void* const block : blocks) tested.deallocate(block);
    blocks.clear();
    while (void* const block = tested.allocate(1000)) blocks.push_back(block); // and free runs make room for pages
    EXPECT_GT(blocks.size(), 12'000u);
    for (void* const block : blocks) tested.deallocate(block);
    EXPECT_EQ(tested.stats().live_count, 0u);
}

TEST_F(heaps, a_static_buffer_serves_small_and_large_blocks) {
    static unsigned char buffer[8 * mebibyte];
    tenure::static_buffer_source fixed(buffer, sizeof buffer);
    heap tested({}, fixed);
    std::vector<void*> blocks;
    for (std::size_t bytes = 1; bytes < 400'000; bytes += bytes / 2 + 1) {
        blocks.push_back(tested.allocate(bytes));
        ASSERT_NE(blocks.back(), nullptr) << bytes;
        EXPECT_TRUE(blocks.back() >= buffer && blocks.back() < buffer + sizeof buffer);
        std::memset(blocks.back(), 1, bytes);
    }
    while (void* const block = tested.allocate(5000)) blocks.push_back(block);
    EXPECT_EQ(tested.allocate(5000), nullptr);
    EXPECT_TRUE(tested.valid());
    for (void* const block : blocks) tested.deallocate(block);
    EXPECT_EQ(tested.stats().live_count, 0u);
    const auto* const zeroed = static_cast<unsigned char*>(tested.allocate(200'000, 16, fill::zero));
    ASSERT_NE(zeroed, nullptr);
    EXPECT_TRUE(std::all_of(zeroed, zeroed + 200'000, [](unsigned char byte) { return byte == 0; }));
}

/// A heap as the source of another.
class source_of_heap final : public tenure::block_source {
public:
    explicit source_of_heap(heap& below) : below_(below) {}
    void* acquire(std::size_t bytes, std::size_t alignment) noexcept override {
        return below_.allocate(bytes, alignment);
    }
    void release(void* block, std::size_t) noexcept override { below_.deallocate(block); }
    [[nodiscard]] tenure::sharing threads() const noexcept override { return tenure::sharing::any_thread; }

private:
    heap& below_;
};

TEST_F(heaps, one_heap_lives_on_another) {
    heap below({}, source_);
    {
        source_of_heap between(below);
        heap above({}, between);
        std::vector<void*> blocks;
        for (std::size_t bytes = 1; bytes < 50 * mebibyte; bytes += bytes / 2 + 1) {
            blocks.push_back(above.allocate(bytes));
            ASSERT_NE(blocks.back(), nullptr);
            static_cast<char*>(blocks.back())[bytes - 1] = 1;
            EXPECT_TRUE(above.owns(blocks.back()));
        }
        EXPECT_GT(below.stats().live_count, 0u);
        for (void* const block : blocks) above.deallocate(block);
    }
    EXPECT_EQ(below.stats().live_count, 0u);
}

TEST_F(heaps, clear_frees_everything_and_keeps_the_memory) {
    heap tested({}, source_);
    for (int round = 0; round < 5; ++round) {
        for (std::size_t bytes = 1; bytes < 3 * mebibyte; bytes += bytes / 10 + 1) {
            auto* const block = static_cast<char*>(tested.allocate(bytes));
            ASSERT_NE(block, nullptr);
            block[0] = block[bytes - 1] = 1;
        }
        EXPECT_GT(tested.stats().live_count, 50u);
        tested.clear();
        EXPECT_EQ(tested.stats().live_count, 0u);
        EXPECT_EQ(tested.stats().live_bytes, 0u);
        EXPECT_TRUE(tested.valid());
    }
    tested.trim();
    EXPECT_EQ(source_.live_blocks(), 0u);
}

TEST_F(heaps, no_block_is_handed_out_twice_after_clear) {
    heap tested({}, source_);
    std::vector<void*> blocks;
    for (int round = 0; round < 4; ++round) {
        for (int each = 0; each < 2000; ++each) blocks.push_back(tested.allocate(1000));
        for (void* const block : blocks) tested.deallocate(block);
        blocks.clear();
        for (int each = 0; each < 2000; ++each) blocks.push_back(tested.allocate(1000)); // looks at what rests
        tested.clear();
        blocks.clear();
        for (int each = 0; each < 3; ++each) tested.deallocate(tested.allocate(1000));
        for (int each = 0; each < 2000; ++each) blocks.push_back(tested.allocate(1000));
        std::ranges::sort(blocks);
        EXPECT_TRUE(std::ranges::adjacent_find(blocks) == blocks.end());
        tested.clear();
        blocks.clear();
        EXPECT_TRUE(tested.valid());
    }
}

TEST_F(heaps, a_large_array_grows_without_losing_a_byte) {
    heap tested({}, source_);
    std::size_t bytes = 100;
    auto* block = static_cast<unsigned char*>(tested.allocate(bytes));
    for (std::size_t at = 0; at < bytes; ++at) block[at] = static_cast<unsigned char>(at % 251);
    while (bytes < 200 * mebibyte) {
        const std::size_t larger = bytes + bytes / 2;
        block = static_cast<unsigned char*>(tested.reallocate(block, larger));
        ASSERT_NE(block, nullptr);
        for (std::size_t at = 0; at < bytes; at += 1 + bytes / 5000) {
            ASSERT_EQ(block[at], static_cast<unsigned char>(at % 251));
        }
        for (std::size_t at = bytes; at < larger; ++at) block[at] = static_cast<unsigned char>(at % 251);
        bytes = larger;
    }
    block = static_cast<unsigned char*>(tested.reallocate(block, 50));
    for (std::size_t at = 0; at < 50; ++at) ASSERT_EQ(block[at], at);
    tested.deallocate(block, 50);
    EXPECT_EQ(tested.stats().live_count, 0u);
}

TEST_F(heaps, each_size_tells_what_is_in_use) {
    tenure::set_option(tenure::option::heap_guard_sample, 0); // guarded blocks are of no size
    heap tested({}, source_);
    std::vector<void*> blocks;
    for (int each = 0; each < 1000; ++each) blocks.push_back(tested.allocate(64));
    const std::size_t index = tenure::detail::class_for(64 + (tenure::checks::caller ? 16 : 0), 16);
    EXPECT_EQ(tenure::detail::core_of(tested).usage_of(index).allocated -
                  tenure::detail::core_of(tested).cached_count(index),
              1000u);
    EXPECT_GE(tested.stats().live_bytes, 64'000u);
    EXPECT_LE(tested.stats().live_bytes, 128'000u);
    EXPECT_GE(tested.stats().peak_bytes, tested.stats().live_bytes);
    for (void* const block : blocks) tested.deallocate(block);
    tenure::set_option(tenure::option::heap_guard_sample, 1000);
}

TEST_F(heaps, usage_is_told_to_people_and_as_json) {
    heap tested({.name = "a \"level\""}, source_);
    std::vector<void*> blocks;
    for (std::size_t bytes = 1; bytes < 60'000'000; bytes *= 3) {
        blocks.push_back(tested.allocate(bytes));
        std::memset(blocks.back(), 1, std::min(bytes, 3 * mebibyte));
    }
    const tenure::heap_usage usage = tested.usage();
    const bool may_be_guarded = tenure::checks::caller; // a block in a thousand
    EXPECT_EQ(usage.total.live_count, blocks.size());
    EXPECT_EQ(usage.huge_count, 1u);
    EXPECT_GE(usage.huge_bytes, 40'000'000u);
    EXPECT_GE(usage.large_count, 4u);
    EXPECT_GE(usage.committed_bytes, usage.in_use_bytes);
    EXPECT_GE(usage.total.reserved_bytes, usage.committed_bytes);
    EXPECT_GE(usage.resident_bytes, 9 * mebibyte);
    EXPECT_LE(usage.resident_bytes, 14 * mebibyte);
    std::size_t small_count = 0;
    for (const auto& size : usage.sizes) small_count += size.live_count;
    const std::size_t counted = small_count + usage.large_count + usage.huge_count;
    EXPECT_TRUE(counted == blocks.size() || (may_be_guarded && counted + 1 == blocks.size()));
    std::string text;
    const auto append = [](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); };
    tenure::write_usage(usage, tenure::usage_form::json, append, &text);
    EXPECT_EQ(text.find("{\"name\": \"a \\\"level\\\"\", \"live_count\": " + std::to_string(blocks.size()) + ", "), 0u)
        << text;
    EXPECT_NE(text.find(", \"sizes\": [{\"block_bytes\": "), std::string::npos) << text;
    EXPECT_EQ(text.substr(text.size() - 4), "}]}\n");
    text.clear();
    tenure::write_usage(usage, tenure::usage_form::text, append, &text);
    EXPECT_NE(text.find("  huge blocks: 1\n"), std::string::npos) << text;
    std::size_t seen = 0;
    heap::for_each_usage([&](const tenure::heap_usage& each) {
        seen += std::size_t{each.name == "process"} + 10 * std::size_t{each.name == "a \"level\""};
    });
    EXPECT_EQ(seen, 11u);
    for (void* const block : blocks) tested.deallocate(block);
    tested.trim();
    EXPECT_EQ(tested.usage().committed_bytes, 0u);
    EXPECT_EQ(tested.usage().resident_bytes, 0u);
}

TEST(heap_usages, any_name_is_told) {
    const std::string name = "gr\xC3\xB6\xC3\x9F"
                             "e\n\\" +
                             std::string(5000, 'x');
    tenure::heap_usage usage;
    usage.name = name;
    std::string text;
    const auto append = [](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); };
    tenure::write_usage(usage, tenure::usage_form::json, append, &text);
    const std::string escaped = "gr\xC3\xB6\xC3\x9F"
                                "e\\u000a\\\\" +
                                std::string(5000, 'x');
    EXPECT_EQ(text.find("{\"name\": \"" + escaped + "\", \"live_count\": 0"), 0u) << text;
    text.clear();
    tenure::write_usage(usage, tenure::usage_form::text, append, &text);
    EXPECT_EQ(text.find("heap gr\xC3\xB6\xC3\x9F"
                        "e?\\x"),
              0u)
        << text;
}

TEST(process_heap, is_one_and_serves_inline_calls) {
    const support::heard_reports heard; // checked builds report what is refused
    heap& process = heap::process();
    EXPECT_EQ(&process, &heap::process());
    void* const block = tenure::detail::process_allocate(100, 16);
    EXPECT_TRUE(process.owns(block));
    process.deallocate(block);
    void* const other = process.allocate(3, 1);
    tenure::detail::process_deallocate(other, 3, 1);
    EXPECT_EQ(tenure::detail::process_allocate(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(tenure::detail::process_allocate(100, 12), nullptr);
    tenure::detail::process_deallocate(nullptr);
    tenure::detail::process_deallocate(nullptr, 10, 16);
}

}
