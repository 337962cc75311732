// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// `tenure bench offsets --against ./lib.so`: a library with an allocator of offsets takes part as a row.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/process.hpp"
#include "support/run_command.hpp"

namespace {

class offset_peer : public testing::Test {
protected:
    void SetUp() override {
        // The command is asked for the library's kind by a process that preloads it.
        if (support::under_address_sanitizer()) GTEST_SKIP() << "a preload comes before the sanitizer";
        if (!std::filesystem::exists(command_path())) GTEST_SKIP() << command_path() << " was not built";
    }
    static command_outcome run(const std::string& experiment, const std::string& library) {
        const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        return run_command("bench " + experiment + " --rounds 1 --seed 3 --against '" + (tests / library).string() +
                           "'");
    }
};

const std::string short_run = "offsets --operations 1000 --parts '10 000 live' --only 'tenure offset_allocator'";

TEST_F(offset_peer, takes_part_in_offsets_under_the_name_of_its_file) {
    const auto found = run(short_run, "liboffset_peer_example.so");
    EXPECT_EQ(found.code, 0) << found.err << found.out;
    EXPECT_NE(found.out.find("liboffset_peer_example.so"), std::string::npos) << found.out;
    EXPECT_NE(found.out.find("tenure offset_allocator"), std::string::npos) << found.out;
}

TEST_F(offset_peer, fails_when_its_ranges_overlap) {
    const auto found = run(short_run, "liboffset_peer_overlapping.so");
    EXPECT_EQ(found.code, 1);
    EXPECT_NE(found.out.find("two ranges overlap"), std::string::npos) << found.out;
}

TEST_F(offset_peer, fails_where_it_makes_no_allocator_of_the_alignment) {
    const auto found = run(short_run + " --alignment 1", "liboffset_peer_example.so"); // more than 32 bits count
    EXPECT_EQ(found.code, 0) << "10 000 ranges of an alignment of 1 are below 4 GiB";
    const auto many = run("offsets --operations 1000 --parts '100 000 live' --only 'tenure offset_allocator' "
                          "--alignment 1",
                          "liboffset_peer_example.so");
    EXPECT_EQ(many.code, 1);
    EXPECT_NE(many.out.find("it could not create an allocator"), std::string::npos) << many.out;
}

TEST_F(offset_peer, is_refused_where_no_experiment_takes_it) {
    const auto found = run("lifetimes", "liboffset_peer_example.so");
    EXPECT_EQ(found.code, 2);
    EXPECT_NE(found.err.find("provides an offset allocator and no malloc"), std::string::npos) << found.err;
}

}
