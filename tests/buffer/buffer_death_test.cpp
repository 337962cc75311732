// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/fixed_utf8_string.hpp>
#include <tenure/buffer/safe_array.hpp>

namespace {

using tenure::fixed_buffer;

TEST(buffer_death, an_element_of_a_freed_buffer_ends_the_program) {
    const auto made = fixed_buffer<int>::make(10);
    const auto copy = made;
    ASSERT_EQ(made.deallocate(), tenure::status::ok);
    EXPECT_DEATH(static_cast<void>(copy[0]), "used after it was freed");
    EXPECT_DEATH(static_cast<void>(copy.span()), "used after it was freed");
    EXPECT_DEATH(static_cast<void>(copy.slice(0, 1)[0]), "used after it was freed");
}

TEST(buffer_death, a_buffer_that_never_had_memory_is_not_said_to_be_freed) {
    const auto refused = fixed_buffer<double>::make(SIZE_MAX / 16);
    EXPECT_DEATH(static_cast<void>(refused.span()),
                 "without memory was used: it was never allocated, or its allocation failed");
    EXPECT_DEATH(static_cast<void>(refused[0]), "without memory was used");
}

TEST(buffer_death, an_owner_whose_memory_another_freed_ends_the_program_in_checked_builds) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "needs checks";
    const auto array = tenure::safe_array<int>::make(10);
    ASSERT_EQ(array.buffer().deallocate(), tenure::status::ok);
    EXPECT_DEATH(array[3] = 43, "used after it was freed");
    EXPECT_DEATH(static_cast<void>(array.begin()), "used after it was freed");
    EXPECT_DEATH(static_cast<void>(array.span()), "used after it was freed");
}

TEST(buffer_death, an_element_past_the_end_ends_the_program) {
    const auto made = fixed_buffer<int>::make(10);
    EXPECT_DEATH(static_cast<void>(made[10]), "index 10 is out of range: the buffer has 10 elements");
    EXPECT_DEATH(static_cast<void>(made[SIZE_MAX]), "index 18446744073709551615 is out of range: the buffer has 10");
    const auto array = tenure::safe_array<int>::make(3);
    EXPECT_DEATH(static_cast<void>(array[3]), "index 3 is out of range: the buffer has 3 elements");
    ASSERT_EQ(made.deallocate(), tenure::status::ok);
}

TEST(buffer_death, a_slice_that_is_not_inside_ends_the_program) {
    const auto made = fixed_buffer<int>::make(10);
    EXPECT_DEATH(static_cast<void>(made.slice(11, 0)), "is not in a buffer of 10");
    EXPECT_DEATH(static_cast<void>(made.slice(5, 6)), "is not in a buffer of 10");
    EXPECT_DEATH(static_cast<void>(made.slice(5, SIZE_MAX)), "is not in a buffer of 10");
    ASSERT_EQ(made.deallocate(), tenure::status::ok);
}

TEST(buffer_death, a_freed_text_ends_the_program) {
    const auto made = tenure::fixed_utf8_string::make("text");
    const auto part = made.substring(1);
    ASSERT_EQ(made.deallocate(), tenure::status::ok);
    EXPECT_DEATH(static_cast<void>(part.view()), "used after it was freed");
}

}
