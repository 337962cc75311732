// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/symbols/symbols.hpp"

#include <link.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "observe/watch/blame.hpp"

// With external linkage, so that symbol tables have them in every build.
int tenure_symbols_test_variable = 0;
[[gnu::noinline]] int tenure_symbols_test_function(int value) { return value + tenure_symbols_test_variable; }

namespace tenure::lab {

namespace {

struct own_program {
    std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
    std::uint64_t base = 0;

    own_program() {
        ::dl_iterate_phdr(
            [](dl_phdr_info* about, std::size_t, void* to) {
                static_cast<own_program*>(to)->base = about->dlpi_addr;
                return 1; // the program is the first
            },
            this);
    }
    [[nodiscard]] std::uint64_t offset_of(std::uintptr_t address) const { return address - base; }
};

TEST(symbols_of_a_program, functions_and_variables_have_their_names) {
    const own_program own;
    symbols names;
    const auto function = reinterpret_cast<std::uintptr_t>(&tenure_symbols_test_function);
    const std::vector<named_frame>& frames = names.at(own.path, own.offset_of(function), false);
    ASSERT_FALSE(frames.empty());
    EXPECT_NE(frames.back().function.find("tenure_symbols_test_function"), std::string::npos) << shown(frames.back());
    EXPECT_EQ(frames.back().module, own.path);
    const auto variable = reinterpret_cast<std::uintptr_t>(&tenure_symbols_test_variable);
    EXPECT_EQ(names.variable(own.path, own.offset_of(variable)), "tenure_symbols_test_variable");
    EXPECT_EQ(names.variable(own.path, own.offset_of(variable) + 1), "tenure_symbols_test_variable+1");
    EXPECT_EQ(names.variable(own.path, own.offset_of(function)), "") << "code is no variable";
}

TEST(symbols_of_a_program, what_has_no_name_is_shown_by_its_place) {
    symbols names;
    EXPECT_EQ(shown(names.at("/nowhere/libnone.so", 0x1234, false).front()), "libnone.so+0x1234");
    EXPECT_EQ(shown(names.at("/nowhere/libnone.so", 0x1234, true).front()), "libnone.so+0x1233") << "within the call";
    EXPECT_EQ(shown(names.made_at_run_time(1, 0xABC).front()), "0xabc");
    EXPECT_EQ(shown_place(named_frame{}), "");
}

TEST(symbols_of_a_program, code_made_at_run_time_is_named_by_a_map) {
    const auto process = static_cast<std::uint32_t>(::getpid());
    const std::string path = "/tmp/perf-" + std::to_string(process) + ".map";
    std::ofstream(path) << "7f0000001000 40 Game.Update(float)\nnonsense\n7f0000001040 20 Game.Draw()\n";
    symbols names;
    EXPECT_EQ(names.made_at_run_time(process, 0x7f0000001001).front().function, "Game.Update(float)");
    EXPECT_EQ(names.made_at_run_time(process, 0x7f0000001040).front().function, "Game.Update(float)")
        << "a call that is the last of its function returns to the next one";
    EXPECT_EQ(names.made_at_run_time(process, 0x7f0000001041).front().function, "Game.Draw()");
    EXPECT_EQ(names.made_at_run_time(process, 0x7f0000001061).front().function, "");
    std::filesystem::remove(path);
}

named_frame frame(const std::string& function, const std::string& module = "/home/me/game",
                  const std::string& file = "") {
    named_frame made;
    made.function = function;
    made.module = module;
    made.file = file;
    return made;
}

TEST(blame, the_innermost_frame_of_the_programs_own_is_blamed) {
    EXPECT_EQ(
        blamed_frame({frame("malloc", "/lib/libc.so.6"), frame("std::vector<int>::push_back(int&&)"),
                      frame("void std::invoke<f>()"), frame("tenure::v0_1_checks0::heap::allocate(unsigned long)"),
                      frame("grow", "/home/me/game", "/usr/include/c++/12/bits/vector.tcc"), frame("update(world&)"),
                      frame("main")}),
        5U);
    EXPECT_EQ(blamed_frame({frame("", "/lib/libc.so.6"), frame("", "/lib/libstdc++.so.6")}), 0U)
        << "all are: the first";
    EXPECT_EQ(blamed_frame({}), 0U);
}

TEST(blame, calls_through_tenure_are_told_from_the_programs_own) {
    EXPECT_TRUE(is_of_tenure({frame("tenure::v0_1_checks0::temp::allocate_slow(unsigned long)"), frame("update()")}));
    EXPECT_TRUE(is_of_tenure({frame("tn_allocate"), frame("update()")}));
    EXPECT_FALSE(is_of_tenure({frame("update()"), frame("tenure::v0_1_checks0::temp::allocate()")}));
    EXPECT_FALSE(is_of_tenure({frame("my::tenure::vault::open()")}));
}

TEST(blame, a_thread_of_the_standard_library_is_named_by_what_it_runs) {
    EXPECT_EQ(readable("std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()"),
              "main::{lambda()#1}");
    EXPECT_EQ(readable("update(world&)"), "update(world&)");
    EXPECT_EQ(readable(std::string(300, 'x')).size(), 99U + std::string_view("…").size());
}

}

}
