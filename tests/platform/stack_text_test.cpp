// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A stack as it is written to standard error.

#include <csignal>
#include <cstdlib>

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
