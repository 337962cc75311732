// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/vector_maths.hpp>

#include <algorithm>

#include "buffer/vector_fixture.hpp"

namespace {

using namespace support;
namespace vectors = tenure::vectors;
using vectors::comparison;

constexpr comparison all_comparisons[]{comparison::equal,         comparison::not_equal, comparison::less,
                                       comparison::less_or_equal, comparison::greater,   comparison::greater_or_equal};

template<class T>
class vector_comparisons : public testing::Test {
protected:
    static constexpr std::size_t offsets = watched_buffer<T>::offsets;

    /// `right` is a buffer, or null, and then a value.
    static void expect_comparison(std::size_t count, T* left, comparison how, const T* right, T value,
                                  std::size_t offset) {
        std::vector<std::uint8_t> expected(count);
        for (std::size_t i = 0; i < count; ++i)
            expected[i] = reference::holds(left[i], how, right == nullptr ? value : right[i]);
        watched_buffer<std::uint8_t> bytes(count, offset);
        const bool of_value = right == nullptr;
        if (of_value)
            vectors::compare(bytes.data(), count, left, how, value);
        else
            vectors::compare(bytes.data(), count, left, how, right);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), bytes.data()))
            << static_cast<int>(how) << " of " << count;
        ASSERT_TRUE(bytes.has_kept_its_surroundings());
        const auto first = [&](std::uint8_t byte) {
            return static_cast<std::size_t>(std::find(expected.begin(), expected.end(), byte) - expected.begin());
        };
        const auto matches = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), 1));
        ASSERT_EQ(of_value ? vectors::count_matches(left, count, how, value)
                           : vectors::count_matches(left, count, how, right),
                  matches);
        ASSERT_EQ(of_value ? vectors::find_match(left, count, how, value)
                           : vectors::find_match(left, count, how, right),
                  first(1));
        ASSERT_EQ(of_value ? vectors::find_mismatch(left, count, how, value)
                           : vectors::find_mismatch(left, count, how, right),
                  first(0));
    }
};

TYPED_TEST_SUITE(vector_comparisons, ten_types, type_names);

TYPED_TEST(vector_comparisons, agree_with_a_loop) {
    using T = TypeParam;
    on_every_target([](support::random& numbers) {
        for_lengths_and_offsets(vector_comparisons<T>::offsets, [&](std::size_t count, std::size_t offset) {
            watched_buffer<T> left(count, offset), right(count, offset * 3 % vector_comparisons<T>::offsets);
            const T value = any_value<T>(numbers);
            fill_with_any(numbers, left.data(), count);
            for (std::size_t i = 0; i < count; ++i) {
                right[i] = numbers.one_in(2) ? left[i] : any_value<T>(numbers);
                if (numbers.one_in(3)) left[i] = value;
            }
            for (const comparison how : all_comparisons) {
                vector_comparisons<T>::expect_comparison(count, left.data(), how, right.data(), value, offset);
                vector_comparisons<T>::expect_comparison(count, left.data(), how, nullptr, value, offset * 5 % 64);
                if (testing::Test::HasFatalFailure()) return;
            }
        });
    });
}

TYPED_TEST(vector_comparisons, find_the_only_one_wherever_it_is) {
    using T = TypeParam;
    on_every_target([](support::random&) {
        for (const std::size_t count : {1u, 7u, 64u, 300u}) {
            for (std::size_t place = 0; place < count; ++place) {
                std::vector<T> values(count, T{5});
                values[place] = 6;
                ASSERT_EQ(vectors::find_match(values.data(), count, comparison::equal, T{6}), place);
                ASSERT_EQ(vectors::find_match(values.data(), count, comparison::greater, T{5}), place);
                ASSERT_EQ(vectors::find_mismatch(values.data(), count, comparison::equal, T{5}), place);
                ASSERT_EQ(vectors::count_matches(values.data(), count, comparison::less, T{6}), count - 1);
            }
        }
    });
}

TYPED_TEST(vector_comparisons, write_bytes_over_what_they_compare) {
    using T = TypeParam;
    if constexpr (sizeof(T) == 1) {
        on_every_target([](support::random& numbers) {
            for (std::size_t count = 0; count < 300; ++count) {
                std::vector<T> values(count);
                fill_with_any(numbers, values.data(), count);
                std::vector<std::uint8_t> expected(count);
                for (std::size_t i = 0; i < count; ++i) expected[i] = values[i] < 3;
                auto* const bytes = reinterpret_cast<std::uint8_t*>(values.data());
                vectors::compare(bytes, count, values.data(), comparison::less, T{3});
                ASSERT_TRUE(std::equal(expected.begin(), expected.end(), bytes));
            }
        });
    }
}

TYPED_TEST(vector_comparisons, find_the_least_and_the_greatest) {
    using T = TypeParam;
    on_every_target([](support::random& numbers) {
        EXPECT_FALSE(vectors::try_minimum(static_cast<T*>(nullptr), 0).has_value());
        EXPECT_FALSE(vectors::try_maximum(static_cast<T*>(nullptr), 0).has_value());
        for_lengths_and_offsets(vector_comparisons<T>::offsets, [&](std::size_t count, std::size_t offset) {
            if (count == 0) return;
            watched_buffer<T> from(count, offset);
            fill_with_any(numbers, from.data(), count);
            // Mostly without NaN, which would decide everything; at times nothing but zeros of both signs.
            const bool zeros = numbers.one_in(4);
            for (std::size_t i = 0; i < count; ++i) {
                if constexpr (std::floating_point<T>) {
                    if (std::isnan(from[i]) && !numbers.one_in(2 * count)) from[i] = -3;
                    if (zeros) from[i] = numbers.one_in(2) ? T{0} : -T{0};
                }
            }
            T least = from[0], greatest = from[0];
            for (std::size_t i = 1; i < count; ++i) {
                least = reference::minimum(least, from[i]);
                greatest = reference::maximum(greatest, from[i]);
            }
            ASSERT_TRUE(is_same(vectors::try_minimum(from.data(), count).value(), least)) << count << zeros;
            ASSERT_TRUE(is_same(vectors::try_maximum(from.data(), count).value(), greatest)) << count << zeros;
        });
    });
}

}
