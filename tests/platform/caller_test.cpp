// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Callers found by rules that were looked up before, compared with those of the compiler's runtime.

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <unwind.h>

#include <tenure/base/align.hpp>
#include <tenure/platform/caller.hpp>

#include "support/runtime_stack.hpp"

namespace {

namespace platform = tenure::platform;

std::vector<std::uintptr_t> found_callers, runtime_callers;

__attribute__((noinline)) void find_callers() {
    found_callers.clear();
    runtime_callers.clear();
    platform::caller at = platform::caller_of_this_function();
    platform::caller_rule rule{};
    found_callers.push_back(at.position);
    while (found_callers.size() < 100 && platform::find_caller_rule(at.position, rule) &&
           platform::move_outwards(at, rule))
        found_callers.push_back(at.position);
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void*) {
            runtime_callers.push_back(_Unwind_GetIP(context));
            return _URC_NO_REASON;
        },
        nullptr);
    runtime_callers.erase(runtime_callers.begin()); // this function
}

volatile int behind_call = 0; // behind a call, which is then not the last

__attribute__((noinline)) void with_plain_frame(int depth) {
    depth == 0 ? find_callers() : with_plain_frame(depth - 1);
    behind_call = depth;
}
/// Its frame's size is known only while it runs: its caller is found from the frame pointer.
__attribute__((noinline)) void with_frame_pointer(std::size_t bytes) {
    auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes));
    room[bytes - 1] = 1;
    with_plain_frame(2);
    behind_call = room[bytes - 1];
}
__attribute__((noinline)) void with_large_frame(std::size_t bytes) {
    volatile char room[9000];
    room[bytes] = 1;
    with_frame_pointer(bytes);
    behind_call = room[bytes];
}

TEST(callers, are_those_of_the_runtime) {
    if (!platform::has_caller_walk) GTEST_SKIP() << "only the immediate caller is known";
    for (const std::size_t bytes : {100u, 1000u, 4000u}) {
        with_large_frame(bytes);
        ASSERT_GE(found_callers.size(), 6u); // the functions above, and the test's own
        if (!support::is_told_by_runtime(tenure::pointer_at(found_callers.back()))) found_callers.pop_back();
        ASSERT_GE(runtime_callers.size(), found_callers.size());
        for (std::size_t index = 0; index < found_callers.size(); ++index)
            EXPECT_EQ(found_callers[index], runtime_callers[index]) << index;
    }
}

TEST(callers, of_a_frame_past_the_limit_are_not_followed) {
    if (!platform::has_caller_walk) GTEST_SKIP() << "only the immediate caller is known";
    with_frame_pointer(4000);
    constexpr std::size_t up_to_the_frame = 4;
    EXPECT_GT(found_callers.size(), up_to_the_frame);
    with_frame_pointer(60'000);
    EXPECT_EQ(found_callers.size(), up_to_the_frame);
}

TEST(callers, of_what_is_no_code_have_no_rule) {
    platform::caller_rule rule{};
    EXPECT_FALSE(platform::find_caller_rule(1, rule));
    EXPECT_FALSE(platform::find_caller_rule(tenure::address_of(&found_callers), rule));
}

TEST(callers, of_code_that_may_be_replaced_are_read_within_a_page) {
    alignas(4096) static const std::uintptr_t stack[1024]{};
    const auto begin = tenure::address_of(stack);
    platform::caller_rule rule{64, -8, 0, false, true};
    platform::caller at{1, begin + 4096 - 64, 0};
    EXPECT_TRUE(platform::move_outwards(at, rule)) << "up to the end of the page";
    at = {1, begin + 4096 - 56, 0};
    EXPECT_FALSE(platform::move_outwards(at, rule)) << "past it";
    at = {1, begin + 4096, 0};
    EXPECT_FALSE(platform::move_outwards(at, rule)) << "the next page is not known to be there";
    rule.is_within_page = false;
    at = {1, begin + 4096 - 64, 0};
    EXPECT_TRUE(platform::move_outwards(at, rule));
}

TEST(callers, outside_the_stack_are_not_read) {
    platform::caller at{1, 0x10000, 0x20};
    EXPECT_FALSE(platform::move_outwards(at, {0, -8, 0, true})) << "a frame pointer below the stack pointer";
    EXPECT_FALSE(platform::move_outwards(at, {1 << 20, -8, 0, false})) << "a frame of a mebibyte";
    at.stack_pointer = 0;
    EXPECT_FALSE(platform::move_outwards(at, {16, -8, 0, false})) << "no stack";
}

}
