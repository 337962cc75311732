// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/buffer/vector_maths.hpp>

#include <functional>

#include "buffer/vector_fixture.hpp"

namespace {

using namespace support;
namespace vectors = tenure::vectors;

template<class T>
class vector_maths : public testing::Test {
protected:
    static constexpr std::size_t offsets = watched_buffer<T>::offsets;

    using buffers_call = void (*)(T*, std::size_t, const T*, const T*);
    using value_call = void (*)(T*, std::size_t, const T*, T);
    using of_two = T (*)(T, T);

    /// Apart, and in place on either side.
    void expect_of_buffers(buffers_call operation, of_two each, bool (*is_allowed)(T) = nullptr) {
        on_every_target([&](support::random& numbers) {
            for_lengths_and_offsets(offsets, [&](std::size_t count, std::size_t offset) {
                for (int where = 0; where < 3; ++where) {
                    watched_buffer<T> left(count, offset), right(count, offset * 3 % offsets);
                    watched_buffer<T> apart(count, offset * 5 % offsets);
                    fill_with_any(numbers, left.data(), count);
                    fill_with_any(numbers, right.data(), count);
                    std::vector<T> expected(count);
                    for (std::size_t i = 0; i < count; ++i) {
                        while (is_allowed != nullptr && !is_allowed(right[i])) right[i] = any_value<T>(numbers);
                        expected[i] = each(left[i], right[i]);
                    }
                    watched_buffer<T>& to = where == 0 ? apart : where == 1 ? left : right;
                    operation(to.data(), count, left.data(), right.data());
                    for (std::size_t i = 0; i < count; ++i)
                        if (!is_same(to[i], expected[i]))
                            FAIL() << +to[i] << " instead of " << +expected[i] << " at " << i << " of " << count << ", "
                                   << where;
                    ASSERT_TRUE(left.has_kept_its_surroundings() && right.has_kept_its_surroundings() &&
                                apart.has_kept_its_surroundings());
                }
            });
        });
    }

    void expect_of_value(value_call operation, of_two each, bool (*is_allowed)(T) = nullptr) {
        on_every_target([&](support::random& numbers) {
            for_lengths_and_offsets(offsets, [&](std::size_t count, std::size_t offset) {
                for (const bool in_place : {false, true}) {
                    watched_buffer<T> left(count, offset), apart(count, offset * 5 % offsets);
                    fill_with_any(numbers, left.data(), count);
                    T right = any_value<T>(numbers);
                    while (is_allowed != nullptr && !is_allowed(right)) right = any_value<T>(numbers);
                    std::vector<T> expected(count);
                    for (std::size_t i = 0; i < count; ++i) expected[i] = each(left[i], right);
                    const std::vector<T> before(left.data(), left.data() + count);
                    watched_buffer<T>& to = in_place ? left : apart;
                    operation(to.data(), count, left.data(), right);
                    for (std::size_t i = 0; i < count; ++i)
                        if (!is_same(to[i], expected[i]))
                            FAIL() << +before[i] << " and " << +right << " make " << +to[i] << " instead of "
                                   << +expected[i];
                    ASSERT_TRUE(left.has_kept_its_surroundings() && apart.has_kept_its_surroundings());
                }
            });
        });
    }
};

TYPED_TEST_SUITE(vector_maths, ten_types, type_names);

TYPED_TEST(vector_maths, adds_as_a_loop_does) {
    this->expect_of_buffers(vectors::add<TypeParam>, reference::sum<TypeParam>);
    this->expect_of_value(vectors::add<TypeParam>, reference::sum<TypeParam>);
}

TYPED_TEST(vector_maths, subtracts_as_a_loop_does) {
    this->expect_of_buffers(vectors::subtract<TypeParam>, reference::difference<TypeParam>);
    this->expect_of_value(vectors::subtract<TypeParam>, reference::difference<TypeParam>);
}

TYPED_TEST(vector_maths, multiplies_as_a_loop_does) {
    this->expect_of_buffers(vectors::multiply<TypeParam>, reference::product<TypeParam>);
    this->expect_of_value(vectors::multiply<TypeParam>, reference::product<TypeParam>);
}

TYPED_TEST(vector_maths, divides_as_a_loop_does) {
    using T = TypeParam;
    const auto of_buffers = [](T* to, std::size_t count, const T* left, const T* right) {
        EXPECT_TRUE(vectors::divide(to, count, left, right));
    };
    const auto of_value = [](T* to, std::size_t count, const T* left, T right) {
        EXPECT_TRUE(vectors::divide(to, count, left, right));
    };
    const auto is_allowed = [](T divisor) { return std::floating_point<T> || divisor != 0; };
    this->expect_of_buffers(of_buffers, reference::quotient<T>, is_allowed);
    this->expect_of_value(of_value, reference::quotient<T>, is_allowed);
}

TYPED_TEST(vector_maths, finds_the_lesser_and_the_greater) {
    this->expect_of_buffers(vectors::minimum<TypeParam>, reference::minimum<TypeParam>);
    this->expect_of_value(vectors::minimum<TypeParam>, reference::minimum<TypeParam>);
    this->expect_of_buffers(vectors::maximum<TypeParam>, reference::maximum<TypeParam>);
    this->expect_of_value(vectors::maximum<TypeParam>, reference::maximum<TypeParam>);
}

TYPED_TEST(vector_maths, takes_square_roots_as_a_loop_does) {
    const auto root = [](TypeParam* to, std::size_t count, const TypeParam* from, TypeParam) {
        vectors::square_root(to, count, from);
    };
    this->expect_of_value(root, [](TypeParam value, TypeParam) { return reference::square_root(value); });
}

TYPED_TEST(vector_maths, fills_and_copies) {
    const auto fill = [](TypeParam* to, std::size_t count, const TypeParam*, TypeParam value) {
        vectors::fill(to, count, value);
    };
    const auto copy = [](TypeParam* to, std::size_t count, const TypeParam* from, TypeParam) {
        vectors::copy(to, count, from);
    };
    this->expect_of_value(fill, [](TypeParam, TypeParam value) { return value; });
    this->expect_of_value(copy, [](TypeParam from, TypeParam) { return from; });
}

TYPED_TEST(vector_maths, fills_and_copies_more_than_the_caches_hold) {
    using T = TypeParam;
    on_every_target([](support::random& numbers) {
        const std::size_t count = (std::size_t{9} << 20) / sizeof(T) + 5;
        for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
            watched_buffer<T> from(count, offset), to(count, offset * 2);
            const T value = static_cast<T>(numbers.below(100) + 3);
            vectors::fill(from.data(), count, value);
            ASSERT_EQ(vectors::find_mismatch(from.data(), count, vectors::comparison::equal, value), count);
            for (std::size_t i = 0; i < count; i += 1 + numbers.below(100)) from[i] = static_cast<T>(i % 100);
            vectors::copy(to.data(), count, from.data());
            ASSERT_EQ(std::memcmp(to.data(), from.data(), count * sizeof(T)), 0);
            ASSERT_TRUE(from.has_kept_its_surroundings() && to.has_kept_its_surroundings());
        }
    });
}

TYPED_TEST(vector_maths, divides_every_number_by_every_small_one_and_by_the_extremes) {
    using T = TypeParam;
    if constexpr (!std::floating_point<T>) {
        on_every_target([](support::random& numbers) {
            std::vector<T> values(1 << 12), to(values.size());
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 0x1'0001 + i / 8);
            const auto some = values.size() / 2;
            fill_with_any(numbers, values.data(), some);
            for (int i = -260; i <= 260; ++i) {
                // Small ones, then those at both ends.
                const T divisor = i <= 256 && i >= -256
                                      ? static_cast<T>(i)
                                      : static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(i & 3));
                if (divisor == 0) continue;
                ASSERT_TRUE(vectors::divide(to.data(), to.size(), values.data(), divisor));
                for (std::size_t k = 0; k < to.size(); ++k) {
                    const T expected = reference::quotient(values[k], divisor);
                    if (to[k] != expected)
                        FAIL() << +values[k] << " by " << +divisor << " is " << +to[k] << " instead of " << +expected;
                }
            }
        });
    }
}

TYPED_TEST(vector_maths, refuses_to_divide_integers_by_zero_and_changes_nothing) {
    using T = TypeParam;
    for (const std::size_t count : {0u, 1u, 3u, 64u, 200u}) {
        std::vector<T> values(count, T{7}), divisors(count, T{1}), to(count, T{3});
        const bool expected = std::floating_point<T>;
        EXPECT_EQ(vectors::divide(to.data(), count, values.data(), T{0}), expected);
        if (count == 0) continue;
        std::vector<T> again(count, T{3});
        divisors[count - 1] = 0;
        EXPECT_EQ(vectors::divide(again.data(), count, values.data(), divisors.data()), expected);
        if (expected) continue;
        EXPECT_EQ(to, std::vector<T>(count, T{3}));
        EXPECT_EQ(again, std::vector<T>(count, T{3}));
    }
}

}
