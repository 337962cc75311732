// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/fixed_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/reports.hpp"

namespace {

using tenure::fixed_buffer;
using tenure::status;

template<class T>
class fixed_buffers : public testing::Test {};
struct record {
    double weight;
    std::int32_t number;
    char name[20];
    friend bool operator==(const record&, const record&) = default;
};
using element_types = testing::Types<char, std::int16_t, std::uint32_t, double, record, fixed_buffer<int>>;
TYPED_TEST_SUITE(fixed_buffers, element_types);

TYPED_TEST(fixed_buffers, are_zero_aligned_and_as_long_as_was_asked) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{100'000}}) {
        for (std::size_t alignment = 1; alignment <= 4096; alignment *= 16) {
            const auto made = fixed_buffer<TypeParam>::make(count, {.alignment = alignment});
            ASSERT_TRUE(made.is_live());
            EXPECT_EQ(made.size(), count);
            EXPECT_EQ(made.size_bytes(), count * sizeof(TypeParam));
            EXPECT_EQ(tenure::address_of(made.data()) % std::max(alignment, alignof(TypeParam)), 0u);
            const auto* const bytes = static_cast<const unsigned char*>(static_cast<const void*>(made.data()));
            EXPECT_TRUE(std::all_of(bytes, bytes + made.size_bytes(), [](unsigned char each) { return each == 0; }));
            EXPECT_EQ(made.deallocate(), status::ok);
        }
    }
}

TYPED_TEST(fixed_buffers, copies_see_the_same_elements_and_the_same_end) {
    const auto first = fixed_buffer<TypeParam>::make(10);
    const auto copy = first;
    EXPECT_EQ(&copy[3], &first[3]);
    EXPECT_EQ(copy, first);
    EXPECT_EQ(copy.deallocate(), status::ok);
    EXPECT_FALSE(first.is_live());
    EXPECT_FALSE(first);
    EXPECT_EQ(first.try_at(3), nullptr);
    EXPECT_FALSE(first.lease().is_live());
    EXPECT_EQ(first.acquire(), status::stale_handle);
    EXPECT_EQ(first.deallocate(), status::stale_handle);
    EXPECT_EQ(first.size(), 10u) << "what it was";
}

TEST(fixed_buffer, a_default_one_is_not_live_and_does_nothing) {
    const fixed_buffer<int> none;
    EXPECT_FALSE(none.is_live());
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.try_at(0), nullptr);
    EXPECT_EQ(none.lease().size(), 0u);
    EXPECT_FALSE(none.fill(3));
    EXPECT_EQ(none.release(), status::stale_handle);
    EXPECT_EQ(none.deallocate(), status::stale_handle);
}

TEST(fixed_buffer, what_cannot_be_is_not_live) {
    const support::heard_reports heard; // checked builds report what is refused
    EXPECT_FALSE(fixed_buffer<double>::make(SIZE_MAX / 8 + 2).is_live());
    EXPECT_FALSE(fixed_buffer<double>::make(SIZE_MAX / 16).is_live());
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{6}, std::size_t{3 * 8}})
        EXPECT_FALSE(fixed_buffer<double>::make(10, {.alignment = alignment}).is_live()) << alignment;
}

TEST(fixed_buffer, values_go_in_and_out) {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), -500);
    const auto made = fixed_buffer<int>::copy_of(values);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), made.span().begin()));
    EXPECT_EQ(made[0], -500);
    made[0] = 5;
    EXPECT_EQ(made.span()[0], 5);
    std::vector<int> out(10);
    EXPECT_TRUE(made.copy_to(out));
    EXPECT_EQ(out, (std::vector<int>{5, -499, -498, -497, -496, -495, -494, -493, -492, -491}));
    EXPECT_TRUE(made.fill(9));
    EXPECT_EQ(std::count(made.span().begin(), made.span().end(), 9), 1000);
    EXPECT_EQ(made.try_at(999), &made[999]);
    EXPECT_EQ(made.try_at(1000), nullptr);
    EXPECT_EQ(made.deallocate(), status::ok);
    EXPECT_FALSE(made.copy_to(out));
}

TEST(fixed_buffer, slices_are_the_same_memory_and_end_with_it) {
    const auto whole = fixed_buffer<int>::make(100);
    const auto part = whole.slice(10, 20);
    EXPECT_EQ(part.size(), 20u);
    part[0] = 7;
    EXPECT_EQ(whole[10], 7);
    EXPECT_EQ(part.slice(5, 5).size(), 5u);
    EXPECT_EQ(whole.slice(100, 0).size(), 0u);
    EXPECT_NE(part, whole);
    EXPECT_EQ(part.deallocate(), status::ok);
    EXPECT_FALSE(whole.is_live());
}

TEST(fixed_buffer, the_same_bytes_are_seen_as_other_elements) {
    const auto words = fixed_buffer<std::uint32_t>::make(5);
    words[0] = 0x0403'0201;
    const auto bytes = words.as<std::uint8_t>();
    EXPECT_EQ(bytes.size(), 20u);
    EXPECT_EQ(bytes[2], 3);
    EXPECT_EQ(words.as<std::uint64_t>().size(), 2u) << "what does not fill an element is left out";
    EXPECT_FALSE(bytes.slice(1, 8).as<std::uint32_t>().is_live()) << "it would not be aligned";
    EXPECT_EQ(bytes.deallocate(), status::ok);
    EXPECT_FALSE(words.is_live());
}

TEST(fixed_buffer, what_is_leased_is_not_freed) {
    const auto made = fixed_buffer<int>::make(100);
    {
        const auto first = made.lease();
        ASSERT_TRUE(first);
        auto second = made.lease();
        EXPECT_EQ(made.holders(), 2u);
        EXPECT_EQ(made.deallocate(), status::still_held);
        second.release();
        EXPECT_FALSE(second.is_live());
        EXPECT_EQ(made.holders(), 1u);
        tenure::lease<int> moved = made.lease();
        tenure::lease<int> to = std::move(moved);
        EXPECT_EQ(made.holders(), 2u);
        EXPECT_EQ(to.size(), 100u);
        int sum = 0;
        for (const int each : to) sum += each;
        EXPECT_EQ(sum, 0);
    }
    EXPECT_EQ(made.holders(), 0u);
    EXPECT_EQ(made.release(), status::not_held);
    EXPECT_EQ(made.deallocate(), status::ok);
}

TEST(fixed_buffer, a_lease_that_is_assigned_lets_go_of_what_it_held) {
    const auto first = fixed_buffer<int>::make(10), second = fixed_buffer<int>::make(20);
    auto held = first.lease();
    auto other = second.lease();
    held = std::move(other);
    EXPECT_EQ(first.holders(), 0u);
    EXPECT_EQ(first.deallocate(), status::ok);
    EXPECT_EQ(second.holders(), 1u);
    EXPECT_FALSE(other.is_live()); // NOLINT(bugprone-use-after-move): that is the question
    tenure::lease<int>& same = held;
    held = std::move(same);
    EXPECT_EQ(held.size(), 20u);
    held = {};
    EXPECT_EQ(second.deallocate(), status::ok);
}

// What the table is for: the next buffer has the memory and the entry of the last one.
TEST(fixed_buffer, a_copy_of_a_freed_buffer_does_not_see_the_next_one) {
    const auto before = fixed_buffer<int>::make(100);
    int* const memory = before.data();
    ASSERT_EQ(before.deallocate(), status::ok);
    const auto after = fixed_buffer<int>::make(100);
    if (after.data() != memory) GTEST_LOG_(INFO) << "the memory was not used again";
    EXPECT_FALSE(before.is_live());
    EXPECT_EQ(before.try_at(0), nullptr);
    EXPECT_EQ(before.deallocate(), status::stale_handle);
    EXPECT_TRUE(after.is_live());
    EXPECT_EQ(after.deallocate(), status::ok);
}

struct employee {
    fixed_buffer<float> bonuses;
    fixed_buffer<std::uint8_t> photo;
    double balance = 0;
};

TEST(fixed_buffer, structures_with_buffers_are_copied_and_stored_like_others) {
    const auto staff = fixed_buffer<employee>::make(3);
    staff[1].bonuses = fixed_buffer<float>::make(12);
    staff[1].bonuses[11] = 2.5f;
    const employee copy = staff[1];
    EXPECT_EQ(copy.bonuses[11], 2.5f);
    EXPECT_FALSE(copy.photo.is_live());
    EXPECT_EQ(staff[1].bonuses.deallocate(), status::ok);
    EXPECT_FALSE(copy.bonuses.is_live());
    EXPECT_EQ(staff.deallocate(), status::ok);
}

}
