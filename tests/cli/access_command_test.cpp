// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// `tenure record --access`: programs that touch their blocks in ways that are known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/recorded_programs.hpp"
#include "observe/access/access_sampler.hpp"
#include "observe/replay/affinity/affinity_advice.hpp"

namespace {

using namespace tenure::lab;

// As in accessed_program.cpp.
constexpr std::uint64_t key_bytes = 48, value_bytes = 72, single_bytes = 56, archive_bytes = 1000;

class record_access : public recorded_programs {
protected:
    void SetUp() override {
        recorded_programs::SetUp();
        if (const std::string reason = access_sampler({}, 0).try_out(); !reason.empty())
            GTEST_SKIP() << "this machine has no watchpoints: " << reason;
    }
    [[nodiscard]] static std::string accessed(const std::string& how, int ms) {
        return program("accessed_program") + " " + how + " " + std::to_string(ms);
    }
};

/// Sizes of the blocks, by number.
[[nodiscard]] std::vector<std::uint64_t> sizes_of(const trace& of) {
    std::vector<std::uint64_t> sizes(of.blocks);
    for (const trace_event& each : of.events)
        if (each.call == trace_call::allocate) sizes[each.block] = each.bytes;
    return sizes;
}

struct size_accesses {
    std::uint64_t watched = 0, touched = 0;
};
[[nodiscard]] std::map<std::uint64_t, size_accesses> accesses_by_size(const trace& of) {
    const std::vector<std::uint64_t> sizes = sizes_of(of);
    std::map<std::uint64_t, size_accesses> found;
    for (const access_window& window : of.windows) {
        for (const watched_block& each : window.blocks) {
            size_accesses& to = found[sizes[each.block]];
            ++to.watched;
            to.touched += std::uint64_t{each.count != 0};
        }
    }
    return found;
}

TEST_F(record_access, visited_blocks_are_touched_and_archives_never) {
    ASSERT_EQ(record("-o t --access", accessed("pairs", 4000)).code, 0);
    const trace found = load("t");
    EXPECT_NE(found.stack_frames, 0u) << "accesses need call stacks";
    ASSERT_FALSE(found.windows.empty());
    std::map<std::uint64_t, size_accesses> by_size = accesses_by_size(found);
    size_accesses visited;
    for (const std::uint64_t bytes : {key_bytes, value_bytes, single_bytes}) {
        visited.watched += by_size[bytes].watched;
        visited.touched += by_size[bytes].touched;
    }
    // The program runs through all blocks again and again. A window of some ms may fall between two passes.
    EXPECT_GT(visited.touched * 10, visited.watched);
    EXPECT_GT(by_size[archive_bytes].watched, 0u);
    EXPECT_EQ(by_size[archive_bytes].touched, 0u);
    for (const access_window& window : found.windows) EXPECT_LE(window.blocks.size(), 4u);
}

/// Records for longer until enough couples were watched: on a busy machine the program hardly runs. Neighbours in a
/// list, which are of one size, are visited within a microsecond and may be found as well. Singles are visited later
/// than keys and values, and archives never.
TEST_F(record_access, keys_are_together_with_their_values_and_not_with_what_is_visited_apart) {
    const std::pair<std::uint64_t, std::uint64_t> expected{key_bytes, value_bytes};
    std::set<std::pair<std::uint64_t, std::uint64_t>> together;
    std::set<std::uint64_t> untouched; // of the longest run: of a short one it is less sure
    for (int ms = 3000; ms <= 48'000 && !together.contains(expected); ms *= 4) {
        ASSERT_EQ(record("-o t --access", accessed("sparse", ms)).code, 0);
        const trace recorded = load("t");
        const co_access found = find_co_access(recorded, lives_of(recorded));
        for (const site_pair& each : found.pairs)
            if (each.is_together)
                together.insert(std::minmax(found.sites[each.first]->largest, found.sites[each.second]->largest));
        untouched.clear();
        for (const untouched_site& each : untouched_sites(found)) untouched.insert(each.site->largest);
    }
    for (const std::uint64_t each : untouched) EXPECT_EQ(each, archive_bytes);
    EXPECT_TRUE(together.contains(expected));
    for (const auto& [smaller, larger] : together) {
        EXPECT_NE(larger, archive_bytes) << "with blocks of " << smaller;
        EXPECT_TRUE(smaller == larger || std::pair(smaller, larger) == expected) << smaller << " and " << larger;
    }
}

TEST_F(record_access, threads_that_come_and_go_are_watched) {
    // The main thread touches no block: what is touched, threads have touched that began after the sampling.
    std::uint64_t touched = 0;
    for (int ms = 1500; ms <= 24'000 && touched == 0; ms *= 4) {
        ASSERT_EQ(record("-o t --access", accessed("threads", ms)).code, 0);
        std::map<std::uint64_t, size_accesses> by_size = accesses_by_size(load("t"));
        EXPECT_EQ(by_size[archive_bytes].touched, 0u);
        for (const std::uint64_t bytes : {key_bytes, value_bytes, single_bytes}) touched += by_size[bytes].touched;
    }
    EXPECT_NE(touched, 0u);
}

TEST_F(record_access, a_program_that_closes_all_descriptors_is_watched) {
    ASSERT_EQ(record("-o t --access", accessed("closes", 2000)).code, 0);
    EXPECT_FALSE(load("t").windows.empty());
}

TEST_F(record_access, a_forks_child_is_watched_too) {
    ASSERT_EQ(record("-o t --access", accessed("fork", 2000)).code, 0);
    const std::vector<std::string> all = files("t");
    ASSERT_EQ(all.size(), 2u);
    for (const std::string& each : all) EXPECT_FALSE(load(each).windows.empty()) << each;
}

TEST_F(record_access, a_program_that_replaces_itself_has_accesses_of_its_own) {
    // Longer, until keys of both programs were watched: on a busy machine they hardly run.
    std::size_t with_keys = 0;
    for (int ms = 4000; ms <= 64'000 && with_keys < 2; ms *= 4) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
        ASSERT_EQ(record("-o t --access", accessed("exec", ms)).code, 0);
        const std::vector<std::string> all = files("t");
        ASSERT_EQ(all.size(), 2u);
        with_keys = 0;
        for (const std::string& each : all) {
            std::map<std::uint64_t, size_accesses> by_size = accesses_by_size(load(each));
            EXPECT_EQ(by_size[archive_bytes].touched, 0u) << each;
            with_keys += std::size_t{by_size[key_bytes].touched != 0};
        }
    }
    EXPECT_EQ(with_keys, 2u);
}

TEST_F(record_access, accesses_of_a_process_that_outlives_the_program_are_told_to_be_missing) {
    const command_outcome outcome =
        record("-o t --access", "sh -c '" + accessed("pairs", 3000) + " > /dev/null 2>&1 & sleep 0.5'");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("still grows"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("are missing: they are added when a file is packed, and its process has outlived the "
                               "program"),
              std::string::npos)
        << outcome.err;
}

TEST_F(record_access, without_the_option_nothing_is_watched_or_listed) {
    ASSERT_EQ(record("-o t --stacks 8", accessed("pairs", 100)).code, 0);
    EXPECT_TRUE(load("t").windows.empty());
}

TEST_F(record_access, info_and_a_part_show_the_accesses) {
    ASSERT_EQ(record("-o t --access", accessed("pairs", 3000)).code, 0);
    const auto info = [&](const std::string& options) {
        return run_command("trace info " + options, folder_.string()).out;
    };
    EXPECT_NE(info("t").find("up to four at a time"), std::string::npos) << info("t");
    ASSERT_EQ(run_command("trace cut t --from 500ms --to 2s -o part", folder_.string()).code, 0);
    const trace whole = load("t"), part = load("part");
    EXPECT_FALSE(part.windows.empty());
    EXPECT_LT(part.windows.size(), whole.windows.size());
}

TEST_F(record_access, where_nothing_can_be_watched_the_allocations_are_recorded_and_the_reason_is_told) {
    const std::string limited = "sh -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 6; exec \"$0\" \"$@\"' '";
    const command_outcome outcome =
        run_in(folder_.string(), limited + command_path() + "' record -o t --access -- " + accessed("pairs", 1));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("accesses are not recorded, only allocations: too many open files: raise ulimit -n"),
              std::string::npos)
        << outcome.err;
    const trace found = load("t");
    EXPECT_FALSE(found.events.empty());
    EXPECT_TRUE(found.windows.empty());
}

TEST_F(record_access, a_program_that_is_too_short_says_that_nothing_was_watched) {
    const command_outcome outcome = record("-o t --access", "true");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("accesses of process"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("are missing: "), std::string::npos) << outcome.err;
}

}
