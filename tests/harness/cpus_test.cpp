// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/machine/cpus.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"

namespace {

using namespace tenure::lab;
namespace fs = std::filesystem;

TEST(cpus, a_list_of_the_kernels_is_read) {
    EXPECT_TRUE(cpu_list_holds("0", 0));
    EXPECT_TRUE(cpu_list_holds("0-3", 2));
    EXPECT_TRUE(cpu_list_holds("0,64", 64));
    EXPECT_TRUE(cpu_list_holds("1,4-6\n", 6));
    EXPECT_FALSE(cpu_list_holds("0,64", 6));
    EXPECT_FALSE(cpu_list_holds("0-3", 4));
    EXPECT_FALSE(cpu_list_holds("", 0));
    EXPECT_FALSE(cpu_list_holds("x,-", 0));
}

class topology : public testing::Test {
protected:
    void has_siblings(int cpu, const char* list) {
        const fs::path folder = fs::path{directory} / ("cpu" + std::to_string(cpu)) / "topology";
        fs::create_directories(folder);
        std::ofstream(folder / "thread_siblings_list") << list << '\n';
    }
    support::temporary_folder own_;
    const std::string directory = own_.path().string();
};

TEST_F(topology, two_threads_of_one_core_are_told_from_two_cores) {
    has_siblings(0, "0,2");
    has_siblings(1, "1,3");
    EXPECT_EQ(relation_of(0, 2, directory), cpu_relation::one_core);
    EXPECT_EQ(relation_of(0, 1, directory), cpu_relation::two_cores);
    EXPECT_EQ(relation_of(1, 1, directory), cpu_relation::same);
}

TEST_F(topology, what_the_kernel_does_not_say_is_not_known) {
    has_siblings(0, "4-7"); // not even the CPU itself
    EXPECT_EQ(relation_of(0, 1, directory), cpu_relation::unknown);
    EXPECT_EQ(relation_of(9, 1, directory), cpu_relation::unknown);
    EXPECT_EQ(relation_of(-1, 0, directory), cpu_relation::unknown);
}

TEST(cpus, a_thread_that_is_pinned_knows_where_it_is) {
    const std::vector<int> allowed = allowed_cpus();
    ASSERT_FALSE(allowed.empty());
    EXPECT_GE(current_cpu(), 0);
}

}
