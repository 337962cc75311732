// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A stack as it is written to standard error.

#include <csignal>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>

namespace stack_text_test {

/// Not exported: its name is only in the linker's table.
template<class T>
__attribute__((noinline)) void make_mistake(T what) {
    tenure::report_misuse(what, nullptr, "Do that.");
    asm volatile(""); // this function stays on the stack
}

}

// Functions of the library, as far as a report can tell.
namespace tenure::inline TENURE_ABI::detail {

__attribute__((noinline)) void fail_for_test() {
    report_misuse("a mistake", nullptr, "Do that.");
    asm volatile("");
}

__attribute__((noinline)) void call_for_test(const std::function<void()>& function) {
    function();
    asm volatile("");
}

}

namespace stack_text_test {

__attribute__((noinline)) void fail_through_the_standard_library() {
    tenure::detail::call_for_test([] { tenure::detail::fail_for_test(); });
    asm volatile("");
}

__attribute__((noinline)) void fail_in_function_of_program() {
    tenure::detail::fail_for_test();
    asm volatile("");
}

__attribute__((noinline)) void fail_in_function_that_the_library_calls() {
    tenure::detail::call_for_test([] { fail_in_function_of_program(); });
    asm volatile("");
}

}

namespace {

using namespace stack_text_test;

class stack_text_death : public testing::Test {
protected:
    stack_text_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(stack_text_death, begins_with_the_callers_function_and_its_readable_name) {
    EXPECT_EXIT(
        make_mistake("a mistake"), testing::KilledBySignal(SIGABRT),
        "^tenure: a mistake. Do that.\n    #0 0x[0-9a-f]+ in (void )?stack_text_test::make_mistake<.*>.*\n    #1 ");
}

TEST_F(stack_text_death, has_lines_or_the_command_that_prints_them) {
    EXPECT_EXIT(
        make_mistake("a mistake"), testing::KilledBySignal(SIGABRT),
        "(platform/stack_text_test.cpp:[0-9]+|\n    lines: addr2line -Cfpie /[^ ]* 0x[0-9a-f]+ 0x[0-9a-f]+.*\n$)");
}

TEST_F(stack_text_death, of_nothing_but_the_library_is_written_all_the_same) {
    EXPECT_EXIT(
        {
            void* const frames[] = {reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&tenure::report) + 1)};
            tenure::host::write_stack(frames, 1);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^    #0 0x[0-9a-f]+ in tenure::v0_1_checks.::report");
}

TEST_F(stack_text_death, of_nothing_but_the_library_names_the_function_that_the_program_called) {
    EXPECT_EXIT(
        {
            const auto in = [](auto* function) {
                return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(function) + 1);
            };
            void* frames[2] = {};
            frames[0] = in(&tenure::report);
            frames[1] = in(&tenure::report_misuse);
            tenure::host::write_stack(frames, 2);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^    #0 0x[0-9a-f]+ in [^#]*report_misuse[^#]*$");
}

// The first frame is the function object. Some debug information names it "operator()" and nothing else.
TEST_F(stack_text_death, leaves_out_what_the_library_calls_through_the_standard_library) {
    EXPECT_EXIT(
        fail_through_the_standard_library(), testing::KilledBySignal(SIGABRT),
        "#0 0x[0-9a-f]+ in ([^#\n]*fail_through_the_standard_library|operator\\(\\) [^#\n]*stack_text_test.cpp)");
}

TEST_F(stack_text_death, keeps_functions_of_the_program_that_the_library_called) {
    EXPECT_EXIT(fail_in_function_that_the_library_calls(), testing::KilledBySignal(SIGABRT),
                "#0 0x[0-9a-f]+ in [^#\n]*fail_in_function_of_program");
}

TEST_F(stack_text_death, with_an_address_outside_every_file_has_the_address) {
    EXPECT_EXIT(
        {
            void* const frames[] = {reinterpret_cast<void*>(std::uintptr_t{0x1000})};
            tenure::host::write_stack(frames, 1);
            tenure::host::write_stack(frames, 0);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "^    #0 0x1000");
}

}
