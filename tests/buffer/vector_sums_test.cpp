// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/vector_maths.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/buffer/detail/vector_pieces.hpp>

#include "buffer/vector_fixture.hpp"

namespace {

using namespace support;
namespace vectors = tenure::vectors;

template<class T>
class vector_sums : public testing::Test {
protected:
    /// Floating-point numbers of about one size, so that every step rounds; integers of any.
    static T summand(support::random& numbers) {
        if constexpr (std::floating_point<T>)
            return static_cast<T>(static_cast<std::int64_t>(numbers.next())) * T{0x1p-60};
        else
            return numbers.one_in(4) ? any_value<T>(numbers) : static_cast<T>(numbers.next());
    }

    static void expect_sums(const T* left, const T* right, std::size_t count) {
        ASSERT_TRUE(is_same(vectors::sum(left, count), reference::sum(left, count))) << count;
        ASSERT_TRUE(is_same(vectors::dot(left, count, right), reference::dot(left, right, count))) << count;
    }
};

TYPED_TEST_SUITE(vector_sums, ten_types, type_names);

TYPED_TEST(vector_sums, have_the_stated_order_on_every_machine) {
    using T = TypeParam;
    on_every_target([](support::random& numbers) {
        const auto expect = [&](std::size_t count, std::size_t offset) {
            watched_buffer<T> left(count, offset), right(count, offset * 3 % watched_buffer<T>::offsets);
            for (std::size_t i = 0; i < count; ++i) {
                left[i] = vector_sums<T>::summand(numbers);
                right[i] = vector_sums<T>::summand(numbers);
            }
            vector_sums<T>::expect_sums(left.data(), right.data(), count);
        };
        for_lengths_and_offsets(watched_buffer<T>::offsets, expect);
        // Some blocks, and what is left of one.
        for (const std::size_t count :
             {4095u, 4096u, 4097u, 8192u, 8200u, 12288u, 12289u, 20480u, 28672u, 40000u, 70000u, 131073u})
            expect(count, count % 3);
    });
}

TYPED_TEST(vector_sums, of_nothing_are_zero_without_a_sign) {
    EXPECT_TRUE(is_same(vectors::sum(static_cast<TypeParam*>(nullptr), 0), vectors::sum_type<TypeParam>{0}));
    EXPECT_TRUE(is_same(vectors::dot(static_cast<TypeParam*>(nullptr), 0, static_cast<TypeParam*>(nullptr)),
                        vectors::sum_type<TypeParam>{0}));
}

TYPED_TEST(vector_sums, of_extremes_are_what_a_loop_finds) {
    using T = TypeParam;
    using limits = std::numeric_limits<T>;
    on_every_target([](support::random& numbers) {
        for (const std::size_t count : {1u, 63u, 1000u, 100'000u}) {
            for (const T value : {limits::lowest(), limits::max()}) {
                const std::vector<T> same(count, value);
                vector_sums<T>::expect_sums(same.data(), same.data(), count);
            }
            std::vector<T> any(count);
            fill_with_any(numbers, any.data(), count);
            vector_sums<T>::expect_sums(any.data(), any.data(), count);
            if constexpr (std::floating_point<T>) {
                std::fill(any.begin(), any.end(), -T{0});
                vector_sums<T>::expect_sums(any.data(), any.data(), count);
                std::fill(any.begin(), any.end(), limits::denorm_min());
                vector_sums<T>::expect_sums(any.data(), any.data(), count);
            }
        }
    });
}

TYPED_TEST(vector_sums, are_the_same_in_pieces_in_whatever_order_they_are_run) {
    using T = TypeParam;
    support::random numbers(new_seed());
    const auto backwards = [](std::size_t count, auto&& piece) {
        for (std::size_t i = count; i-- != 0;) piece(i);
    };
    constexpr std::size_t each = vectors::piece_count;
    for (const std::size_t count : {std::size_t{0}, std::size_t{5}, each, each + 1, 3 * each, 7 * each + 4100,
                                    vectors::max_sums * each + 77, 600 * each / sizeof(T)}) {
        std::vector<T> left(count), right(count);
        for (std::size_t i = 0; i < std::min<std::size_t>(count, 50'000); ++i)
            left[i] = vector_sums<T>::summand(numbers);
        for (std::size_t begin = 50'000; begin < count; begin += 49'999) // all but the first again
            std::memcpy(left.data() + begin, left.data() + begin - 49'999,
                        std::min<std::size_t>(count - begin, 49'999) * sizeof(T));
        std::reverse_copy(left.data(), left.data() + count, right.data());
        EXPECT_TRUE(is_same(vectors::sum_in_pieces(left.data(), count, backwards), vectors::sum(left.data(), count)))
            << count;
        EXPECT_TRUE(is_same(vectors::dot_in_pieces(left.data(), count, right.data(), backwards),
                            vectors::dot(left.data(), count, right.data())))
            << count;
    }
}

TYPED_TEST(vector_sums, pieces_of_an_operation_are_the_whole) {
    using T = TypeParam;
    const std::size_t count = 3 * vectors::piece_count + 1;
    std::vector<T> values(count, T{3});
    const auto in_turn = [](std::size_t pieces, auto& piece) {
        for (std::size_t i = 0; i < pieces; ++i) piece(i);
    };
    vectors::in_pieces(count, in_turn, [&](std::size_t begin, std::size_t size) {
        vectors::multiply(values.data() + begin, size, values.data() + begin, T{5});
    });
    EXPECT_EQ(values, std::vector<T>(count, T{15}));
}

}
