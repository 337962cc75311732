// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/harness/mallocs/malloc_peers.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "bench/harness/machine/machine.hpp"
#include "bench/harness/mallocs/malloc_calls.hpp"
#include "support/own_path.hpp"
#include "support/process.hpp"

namespace {

using namespace tenure::lab;

TEST(peers, every_peer_is_found_with_a_version_or_missing_with_a_reason) {
    const std::vector<found_malloc> all = find_mallocs();
    ASSERT_EQ(all.size(), malloc_peers().size() + 3);
    EXPECT_EQ(all[0].name, system_malloc_name);
    EXPECT_EQ(all[1].name, own_malloc_name);
    EXPECT_EQ(all[2].name, own_hardened_name);
    EXPECT_EQ(all[0].role, contestant_role::peer);
    EXPECT_EQ(all[1].role, contestant_role::ours);
    EXPECT_EQ(all[2].role, contestant_role::checked);
    for (const found_malloc& each : all) {
        if (each.found) {
            EXPECT_TRUE(each.reason.empty());
        } else {
            EXPECT_FALSE(each.reason.empty()) << each.name;
        }
    }
}

TEST(peers, tcmalloc_says_whose_it_is_and_that_it_is_the_minimal_one) {
    for (const found_malloc& each : find_mallocs()) {
        if (each.name != "tcmalloc") continue;
        if (!each.found) GTEST_SKIP() << each.reason;
        EXPECT_TRUE(each.version.starts_with("gperftools minimal ")) << each.version;
    }
}

TEST(peers, a_missing_peer_names_its_package) {
    for (const found_malloc& each : find_mallocs()) {
        if (!each.found && each.role == contestant_role::peer && !support::under_sanitizer()) {
            EXPECT_NE(each.reason.find("the package lib"), std::string::npos) << each.reason;
        }
    }
}

TEST(peers, our_own_malloc_is_looked_for_beside_the_command) {
    const found_malloc own = find_mallocs().at(1);
    EXPECT_TRUE(own.given.empty()) << "nobody gave it on the command line";
    if (own.found) {
        EXPECT_NE(own.library.find("libtenure_malloc.so"), std::string::npos) << own.library;
        EXPECT_EQ(own.version, library_version());
    } else {
        EXPECT_NE(own.reason.find("libtenure_malloc.so"), std::string::npos) << own.reason;
    }
}

TEST(peers, a_file_that_is_not_there_is_refused) {
    const found_malloc found = find_malloc_file("./no/such/lib.so");
    EXPECT_FALSE(found.found);
    EXPECT_EQ(found.reason, "there is no file ./no/such/lib.so");
}

TEST(peers, a_directory_is_refused) { EXPECT_EQ(find_malloc_file("/tmp").reason, "/tmp is not a file"); }

TEST(peers, a_file_that_is_no_library_is_refused_with_the_loaders_reason) {
    if (support::under_sanitizer()) GTEST_SKIP() << "a preload comes before the sanitizer";
    const std::string path = support::own_path("no-library.so");
    std::ofstream(path) << "this is no library";
    const found_malloc found = find_malloc_file(path);
    EXPECT_FALSE(found.found);
    EXPECT_NE(found.reason.find("cannot be loaded"), std::string::npos) << found.reason;
}

TEST(peers, a_library_without_malloc_is_refused) {
    if (support::under_sanitizer()) GTEST_SKIP() << "a preload comes before the sanitizer";
    const std::string library = object_of_symbol("_ZSt9terminatev"); // the C++ runtime
    const found_malloc found = find_malloc_file(library);
    EXPECT_FALSE(found.found);
    EXPECT_NE(found.reason.find("has no malloc"), std::string::npos) << found.reason;
}

TEST(peers, a_name_that_the_preload_list_would_split_is_refused) {
    const std::string path = support::own_path("two words.so");
    std::ofstream(path) << "x";
    EXPECT_NE(find_malloc_file(path).reason.find("splits the name"), std::string::npos);
}

TEST(peers, a_preloadable_peer_is_found_by_its_path_as_well) {
    for (const found_malloc& each : find_mallocs()) {
        if (!each.found || each.library.empty()) continue;
        const found_malloc by_path = find_malloc_file(each.library);
        EXPECT_TRUE(by_path.found) << by_path.reason;
        EXPECT_TRUE(same_file(by_path.library, each.library));
    }
}

TEST(peers, a_package_name_cannot_smuggle_a_command) { EXPECT_EQ(package_version("x; echo 1.0"), ""); }

TEST(peers, a_version_comes_from_the_headers_before_the_package) {
    EXPECT_EQ(version_of({"Some", "libc6", "9.9", true, {}}), "9.9");
    EXPECT_EQ(version_of({"Some", "libc6", "9.9", false, {}}), "");
}

}
