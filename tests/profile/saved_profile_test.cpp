// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/saved_profile.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profile/sample_profile.hpp"
#include "support/holds.hpp"
#include "support/random.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

using support::holds;

TEST(saved_profile, reads_what_was_written) {
    const saved_profile read = read_profile(sample::two_stacks().finished());
    ASSERT_TRUE(read.ok()) << read.error;
    EXPECT_EQ(read.program(), "server");
    EXPECT_EQ(read.arguments, (std::vector<std::string>{"/bin/server", "--port", "80"}));
    ASSERT_EQ(read.sites.size(), 2u);
    EXPECT_EQ(read.sites[0].live.bytes, 20'000);
    EXPECT_EQ(read.frames.size(), 3u);
    EXPECT_EQ(read.live.size(), 10u);
    EXPECT_EQ(read.tags.at(7), "sessions");
    ASSERT_EQ(read.mappings.size(), 2u) << "a line may be divided between two sections";
    EXPECT_TRUE(read.mappings[0].is_code);
    EXPECT_EQ(read.mappings[0].path, "[anon code]");
    EXPECT_EQ(read.mappings[1].file_offset, 0x1000u);
    EXPECT_EQ(read.mappings[1].path, "");
    ASSERT_NE(read.mapping_of(0x1FFF), nullptr);
    EXPECT_EQ(read.mapping_of(0x1FFF)->begin, 0x1000u);
    EXPECT_EQ(read.mapping_of(0xFFF), nullptr);
    EXPECT_EQ(read.mapping_of(0x4000), nullptr);
}

TEST(saved_profile, a_build_id_is_that_of_all_mappings_of_its_file) {
    sample::profile_bytes bytes;
    bytes.words(format::section::mappings, "1000-2000 r--p 00000000 08:01 12 /lib/a.so\n"
                                           "2000-3000 r-xp 00001000 08:01 12 /lib/a.so\n"
                                           "3000-4000 r-xp 00000000 08:01 13 /lib/b.so\n"
                                           "4000-5000 r-xp 00000000 00:00 0\n"
                                           "6000-7000 r--p 00000000 08:01 14 /lib/a.so\n"
                                           "7000-8000 r-xp 00001000 08:01 14 /lib/a.so\n");
    bytes.words(format::section::builds, "1000 00ff12\n3000 not an ID\n60");
    bytes.words(format::section::builds, "00 aa\nnonsense\n9000 bb\n");
    const saved_profile read = read_profile(bytes.finished());
    ASSERT_EQ(read.mappings.size(), 6u) << read.error;
    std::vector<std::string> ids;
    for (const profile_mapping& each : read.mappings) ids.push_back(each.build_id);
    EXPECT_EQ(ids, (std::vector<std::string>{"00ff12", "00ff12", "", "", "aa", "aa"}));
}

TEST(saved_profile, sections_and_fields_of_later_versions_are_skipped) {
    sample::profile_bytes bytes = sample::two_stacks();
    bytes.section(static_cast<format::section>(55), 24, 2, std::string(48, 'x'));
    struct longer {
        format::size_class known;
        std::uint64_t fresh;
    };
    bytes.entries(format::section::classes, std::vector<longer>{{{64, 1, 64}, 9}});
    const saved_profile read = read_profile(bytes.finished());
    ASSERT_TRUE(read.ok()) << read.error;
    ASSERT_EQ(read.classes.size(), 1u);
    EXPECT_EQ(read.classes[0].block_bytes, 64u);
}

TEST(saved_profile, what_is_no_profile_is_refused_with_the_reason) {
    EXPECT_TRUE(holds(read_profile("").error, "not a heap profile"));
    EXPECT_TRUE(holds(read_profile(std::string(1000, 'x')).error, "not a heap profile"));
    std::string bytes = sample::two_stacks().finished();
    bytes[8] = 2;
    EXPECT_TRUE(holds(read_profile(bytes).error, "version 2"));
    EXPECT_TRUE(holds(load_profile("/no such file").error, "/no such file"));
    EXPECT_TRUE(holds(load_profile("/").error, "/"));
}

TEST(saved_profile, a_file_that_ends_early_is_refused_wherever_it_ends) {
    const std::string whole = sample::two_stacks().finished();
    for (std::size_t length = 0; length < whole.size(); ++length)
        ASSERT_FALSE(read_profile(whole.substr(0, length)).ok()) << length;
    EXPECT_TRUE(holds(read_profile(whole.substr(0, whole.size() - 24)).error, "ends early"));
}

TEST(saved_profile, a_changed_byte_is_noticed) {
    const std::string whole = sample::two_stacks().finished();
    for (std::size_t at = 0; at < whole.size() - 24; ++at) { // the end's own header may say how long it is
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        ASSERT_FALSE(read_profile(bytes).ok()) << at;
    }
}

TEST(saved_profile, numbers_that_lead_outside_are_refused) {
    const auto error_with = [](auto&& change) {
        std::vector<format::site> sites(1);
        sites[0].frame_count = 1;
        std::vector<format::live_sample> live(1);
        change(sites[0], live[0]);
        sample::profile_bytes bytes;
        bytes.entries(format::section::sites, sites);
        bytes.entries(format::section::frames, std::vector<std::uint64_t>{1});
        bytes.entries(format::section::live, live);
        return read_profile(bytes.finished()).error;
    };
    EXPECT_EQ(error_with([](auto&, auto&) {}), "");
    EXPECT_TRUE(holds(error_with([](auto& site, auto&) { site.first_frame = 1; }), "call stack"));
    EXPECT_TRUE(holds(error_with([](auto& site, auto&) { site.first_frame = UINT64_MAX; }), "call stack"));
    EXPECT_TRUE(holds(error_with([](auto& site, auto&) { site.frame_count = UINT32_MAX; }), "call stack"));
    EXPECT_TRUE(holds(error_with([](auto&, auto& live) { live.site = 1; }), "live block"));
    const double none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
    for (const double wrong : {none, endless, -endless, -1e6}) {
        EXPECT_TRUE(holds(error_with([&](auto& site, auto&) { site.live.bytes = wrong; }), "estimate")) << wrong;
        EXPECT_TRUE(holds(error_with([&](auto& site, auto&) { site.at_peak.variance = wrong; }), "estimate")) << wrong;
    }
}

TEST(saved_profile, a_count_past_the_file_takes_no_memory) {
    for (const std::uint64_t count : {UINT64_MAX, UINT64_MAX / 112, std::uint64_t{1} << 40}) {
        sample::profile_bytes bytes;
        bytes.section(format::section::sites, sizeof(format::site), count, "");
        EXPECT_FALSE(read_profile(bytes.finished()).ok());
        sample::profile_bytes empty;
        empty.section(format::section::sites, 0, count, "");
        EXPECT_FALSE(read_profile(empty.finished()).ok());
    }
}

TEST(saved_profile, random_damage_is_survived) {
    const std::string whole = sample::two_stacks().finished();
    support::random numbers(9);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = whole.substr(0, numbers.below(whole.size() + 1));
        for (std::size_t each = 0; each < 1 + numbers.below(8) && !bytes.empty(); ++each)
            bytes[numbers.below(bytes.size())] = static_cast<char>(numbers.below(256));
        static_cast<void>(read_profile(bytes));
    }
}

}

}
