// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/pressure.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace {

namespace files = std::filesystem;

/// A process in the group /outer/inner, with a limit of 1000 bytes on the outer one and no limit on the inner one.
class memory_pressure : public testing::Test {
protected:
    memory_pressure() {
        files::create_directories(folder_ / "groups/outer/inner");
        write("own_group", "0::/outer/inner\n");
        write("machine", calm);
        write_group("outer", "1000\n", "100\n", stat_of(0, 0));
        write_group("outer/inner", "max\n", "100\n", stat_of(0, 0));
        write("groups/outer/inner/memory.pressure", calm);
    }

    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
    void write_group(const std::string& name, const std::string& limit, const std::string& used,
                     const std::string& stat) const {
        write("groups/" + name + "/memory.max", limit);
        write("groups/" + name + "/memory.current", used);
        write("groups/" + name + "/memory.stat", stat);
    }
    void remove(const std::string& name) const { files::remove(folder_ / name); }
    static std::string stat_of(int inactive, int active) {
        return "anon 5\nfile 7\ninactive_anon 1\nactive_anon 2\ninactive_file " + std::to_string(inactive) +
               "\nactive_file " + std::to_string(active) + "\nunevictable 0\n";
    }
    [[nodiscard]] bool is_short() const {
        const std::string own = folder_ / "own_group", groups = folder_ / "groups", machine = folder_ / "machine";
        return tenure::platform::is_memory_short({own.c_str(), groups.c_str(), machine.c_str()});
    }

    static constexpr const char* calm = "some avg10=9.99 avg60=99.00 avg300=0.00 total=1\nfull avg10=99.00\n";
    static constexpr const char* pressed = "some avg10=10.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00\n";

private:
    support::temporary_folder own_;
    const files::path folder_ = own_.path();
};

TEST_F(memory_pressure, is_absent_below_nine_tenths_of_every_limit) {
    EXPECT_FALSE(is_short());
    write_group("outer", "1000\n", "899\n", stat_of(0, 0));
    EXPECT_FALSE(is_short());
}

TEST_F(memory_pressure, comes_from_the_limit_of_the_own_group_or_of_one_around_it) {
    write_group("outer", "1000\n", "900\n", stat_of(0, 0));
    EXPECT_TRUE(is_short());
    write_group("outer", "max\n", "900\n", stat_of(0, 0));
    EXPECT_FALSE(is_short());
    write_group("outer/inner", "800\n", "720\n", stat_of(0, 0));
    EXPECT_TRUE(is_short());
}

TEST_F(memory_pressure, does_not_count_cached_files) {
    write_group("outer", "1000\n", "990\n", stat_of(50, 41));
    EXPECT_FALSE(is_short());
    write_group("outer", "1000\n", "990\n", stat_of(50, 40));
    EXPECT_TRUE(is_short());
    write_group("outer", "1000\n", "990\n", stat_of(5000, 0)); // read later than the use
    EXPECT_FALSE(is_short());
}

TEST_F(memory_pressure, of_the_own_group_counts_and_not_that_of_the_machine) {
    write("machine", pressed);
    EXPECT_FALSE(is_short()) << "a neighbour";
    write("groups/outer/inner/memory.pressure", pressed);
    EXPECT_TRUE(is_short());
    write("machine", calm);
    EXPECT_TRUE(is_short());
}

TEST_F(memory_pressure, of_the_machine_counts_where_the_group_reports_none) {
    write("machine", pressed);
    remove("groups/outer/inner/memory.pressure");
    EXPECT_TRUE(is_short());
    write("groups/outer/inner/memory.pressure", "");
    EXPECT_TRUE(is_short());
}

TEST_F(memory_pressure, is_absent_where_files_are_empty_cut_off_or_missing) {
    for (const char* const name : {"memory.max", "memory.current"}) {
        write_group("outer", "1000\n", "990\n", stat_of(0, 0));
        ASSERT_TRUE(is_short());
        write(std::string("groups/outer/") + name, "");
        EXPECT_FALSE(is_short()) << name;
        remove(std::string("groups/outer/") + name);
        EXPECT_FALSE(is_short()) << name;
    }
    write("groups/outer/inner/memory.pressure", "some avg1");
    EXPECT_FALSE(is_short());
    write("own_group", "");
    EXPECT_FALSE(is_short());
    remove("own_group");
    remove("machine");
    EXPECT_FALSE(is_short());
}

// Without the counts of files, everything counts as used.
TEST_F(memory_pressure, reads_a_limit_whose_statistics_are_missing_or_cut_off) {
    write_group("outer", "1000\n", "990\n", "");
    EXPECT_TRUE(is_short());
    write_group("outer", "1000\n", "990\n", "anon 5\ninactive_file 91");
    EXPECT_FALSE(is_short()) << "the file ends there";
    std::string cut_off = "anon 5\n";
    cut_off.append(4096 - cut_off.size() - 17, '\n');
    write_group("outer", "1000\n", "990\n", cut_off + "inactive_file 910\n"); // the buffer ends within the number
    EXPECT_TRUE(is_short());
}

TEST_F(memory_pressure, finds_the_own_group_among_those_of_the_first_version) {
    write_group("outer", "1000\n", "990\n", stat_of(0, 0));
    write("own_group", "12:cpu:/outer0::/\n4:memory:/elsewhere\n0::/outer/inner\n");
    EXPECT_TRUE(is_short());
    write("own_group", "4:memory:/outer/inner\n");
    EXPECT_FALSE(is_short());
}

TEST_F(memory_pressure, at_the_root_of_a_container_is_found) {
    write("own_group", "0::/\n");
    write("groups/memory.max", "1000\n");
    write("groups/memory.current", "990\n");
    EXPECT_TRUE(is_short());
}

TEST_F(memory_pressure, of_a_path_that_is_too_long_is_absent) {
    write("own_group", "0::/" + std::string(1500, 'x') + "\n");
    EXPECT_FALSE(is_short());
    EXPECT_FALSE(tenure::platform::is_memory_short({"/proc/self/cgroup", std::string(2000, 'x').c_str(), ""}));
}

TEST(memory_pressure_of_the_system, can_be_read_again_and_again) {
    const bool first = tenure::platform::is_memory_short();
    for (int each = 0; each < 100; ++each) static_cast<void>(tenure::platform::is_memory_short());
    EXPECT_EQ(first, tenure::platform::is_memory_short());
}

}
