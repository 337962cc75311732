// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/handle/handle_memory.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/platform/file_map.hpp>
#include <tenure/platform/memory.hpp>

#include "support/again.hpp"
#include "support/own_path.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::fill;
using tenure::handle;
using tenure::handle_table;
using tenure::status;

handle_table& table() { return handle_table::process(); }

TEST(handle_memory, memory_is_as_large_aligned_and_zero_as_was_asked) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}, std::size_t{40} << 20}) {
        for (std::size_t alignment = 1; alignment <= 4096; alignment *= 8) {
            handle made;
            ASSERT_EQ(tenure::allocate_held(bytes, {.alignment = alignment, .kind = "test"}, made), status::ok);
            EXPECT_EQ(tenure::address_of(made.pointer) % alignment, 0u);
            EXPECT_EQ(made.bytes, bytes);
            const auto* const first = static_cast<const unsigned char*>(made.pointer);
            EXPECT_TRUE(std::all_of(first, first + bytes, [](unsigned char each) { return each == 0; }));
            EXPECT_EQ(table().remove(made), status::ok);
            EXPECT_FALSE(table().is_live(made));
        }
    }
}

TEST(handle_memory, huge_pages_are_asked_for_and_change_nothing_else) {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{3} << 20, std::size_t{70} << 20}) {
        handle made;
        ASSERT_EQ(tenure::allocate_held(bytes, {.pages = tenure::page_size::huge, .kind = "test"}, made), status::ok);
        auto* const first = static_cast<unsigned char*>(made.pointer);
        EXPECT_TRUE(std::all_of(first, first + bytes, [](unsigned char each) { return each == 0; }));
        std::memset(first, 1, bytes);
        EXPECT_EQ(table().remove(made), status::ok);
    }
}

TEST(handle_memory, what_cannot_be_is_refused_and_changes_nothing) {
    const support::heard_reports heard; // checked builds report what is refused
    handle made;
    EXPECT_EQ(tenure::allocate_held(16, {.alignment = 3, .how = fill::none, .kind = "test"}, made),
              status::invalid_argument);
    EXPECT_EQ(tenure::allocate_held(16, {.alignment = 0, .how = fill::none, .kind = "test"}, made),
              status::invalid_argument);
    EXPECT_EQ(tenure::allocate_held(SIZE_MAX, {.alignment = 16, .how = fill::none, .kind = "test"}, made),
              status::out_of_memory);
    EXPECT_EQ(tenure::allocate_held(SIZE_MAX / 2, {.alignment = 16, .how = fill::none, .kind = "test"}, made),
              status::out_of_memory);
    EXPECT_EQ(tenure::map_held("/no such folder/file", 10, "test", made), status::file_error);
    EXPECT_EQ(tenure::map_held("/", 10, "test", made), status::file_error);
    EXPECT_EQ(tenure::map_held(nullptr, 0, "test", made), status::invalid_argument);
    EXPECT_EQ(made, handle{});
}

TEST(handle_memory, a_files_memory_is_its_contents_and_stays_with_it) {
    const std::string path = support::own_path("held");
    handle first;
    ASSERT_EQ(tenure::map_held(path.c_str(), 10'000, "test", first), status::ok);
    std::memset(first.pointer, 'x', 10'000);
    handle second;
    ASSERT_EQ(tenure::map_held(path.c_str(), 5'000, "test", second), status::ok) << "a longer file stays as it is";
    EXPECT_EQ(std::memcmp(first.pointer, second.pointer, 5'000), 0);
    EXPECT_EQ(table().remove(first), status::ok);
    EXPECT_EQ(table().remove(second), status::ok);
    EXPECT_EQ(std::filesystem::file_size(path), 10'000u);
    std::filesystem::remove(path);
}

TEST(handle_memory, a_file_without_a_name_may_be_larger_than_the_memory) {
    handle made;
    const std::size_t bytes = std::size_t{1} << 40;
    const status how = tenure::map_held(nullptr, bytes, "test", made);
    if (how != status::ok) GTEST_SKIP() << "the file system for temporary files takes no sparse file of 1 TiB";
    auto* const first = static_cast<unsigned char*>(made.pointer);
    first[0] = first[bytes - 1] = 9;
    EXPECT_EQ(first[bytes / 2], 0);
    EXPECT_EQ(table().remove(made), status::ok);
}

TEST(handle_memory, freed_memory_is_overwritten_when_that_is_asked_for) {
    if constexpr (tenure::checks::caller) GTEST_SKIP() << "checked builds put freed memory away";
    ASSERT_TRUE(tenure::set_option(tenure::option::buffer_fill, 1));
    handle made;
    ASSERT_EQ(tenure::allocate_held(256, {.alignment = 16, .how = fill::zero, .kind = "test"}, made), status::ok);
    const auto* const first = static_cast<const volatile unsigned char*>(made.pointer);
    EXPECT_EQ(table().remove(made), status::ok);
    EXPECT_EQ(first[100], tenure::freed_fill); // the page of small blocks is still there
    ASSERT_TRUE(tenure::set_option(tenure::option::buffer_fill, 0));
}

TEST(handle_memory, a_file_that_was_not_kept_is_as_it_was) {
    const std::string path = support::own_path("unkept");
    {
        const tenure::platform::mapped_file file(path.c_str(), 10'000);
        ASSERT_NE(file.memory(), nullptr);
        EXPECT_EQ(std::filesystem::file_size(path), 10'000u);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    std::ofstream(path) << "text";
    { const tenure::platform::mapped_file longer(path.c_str(), 10'000); }
    EXPECT_EQ(std::filesystem::file_size(path), 4u);
    {
        const tenure::platform::mapped_file longer(path.c_str(), 10'000);
        std::filesystem::resize_file(path, 20'000); // by somebody else, meanwhile
    }
    EXPECT_EQ(std::filesystem::file_size(path), 20'000u);
    std::filesystem::remove(path);
}

TEST(handle_memory, a_file_put_in_place_of_one_that_was_not_kept_stays) {
    const std::string path = support::own_path("replaced");
    {
        const tenure::platform::mapped_file gone(path.c_str(), 10'000);
        std::filesystem::remove(path);
        std::ofstream(path) << "another";
    }
    EXPECT_EQ(std::filesystem::file_size(path), 7u);
    std::filesystem::remove(path);
}

// Run again by the test below: in a process that has taken no addresses yet.
TEST(handle_memory, DISABLED_there_is_room_beside_the_table) {
    constexpr rlim_t most = rlim_t{2} << 30;
    const ::rlimit limit{most, most};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(tenure::platform::address_limit_bytes(), most);
    for (int count = 0; count < 50'000; ++count) ASSERT_NE(table().add(nullptr, 1).entry, 0u);
    EXPECT_NE(tenure::platform::reserve(most / 4 * 3, 1), nullptr);
}

TEST(handle_memory, a_process_whose_addresses_are_limited_keeps_them_for_others) {
    if (support::under_sanitizer()) GTEST_SKIP() << "sanitizers take addresses without end";
    setenv("GTEST_ALSO_RUN_DISABLED_TESTS", "1", 1);
    const auto seen = support::run_again({}, "*DISABLED_there_is_room_beside_the_table");
    unsetenv("GTEST_ALSO_RUN_DISABLED_TESTS");
    EXPECT_EQ(seen.status, 0) << seen.output;
    EXPECT_NE(seen.output.find("1 test"), std::string::npos) << seen.output;
}

TEST(handle_memory, what_is_live_can_be_reported_at_any_time) {
    handle made;
    const std::size_t before = table().usage().live_count;
    ASSERT_EQ(tenure::allocate_held(123, {.alignment = 16, .how = fill::none, .kind = "left behind"}, made),
              status::ok);
    {
        const support::heard_reports heard;
        EXPECT_EQ(table().report_live(), before + 1);
        EXPECT_NE(heard.last().find("left behind of 123 bytes"), std::string::npos) << heard.last();
        const std::string said = heard.last();
        const std::size_t age = said.find(", has been live for ");
        ASSERT_NE(age, std::string::npos) << said;
        EXPECT_NE(said.find(" ms", age), std::string::npos) << said;
        EXPECT_EQ(heard.count(tenure::report_kind::leak), before + 1);
    }
    EXPECT_EQ(table().remove(made), status::ok);
    EXPECT_EQ(table().report_live(), before);
}

const std::string very_long(5'000, 'x');
const std::string long_in_letters = std::string(127, 'x') + "\xC3\xA9 and more";
const char* const strange_kinds[] = {"a \"quoted\" \\ \n kind", "no \xFF\xC3 UTF-8 \xED\xA0\x80",
                                     "\xC3\xA9\xE2\x82\xAC", very_long.c_str(), long_in_letters.c_str()};

// Run again by the test below, with the option set.
TEST(handle_memory, DISABLED_something_is_left_behind) {
    handle made;
    ASSERT_EQ(tenure::allocate_held(77, {.alignment = 16, .how = fill::none, .kind = "forgotten"}, made), status::ok);
    static_cast<void>(table().acquire(made));
    for (const char* const kind : strange_kinds) {
        ASSERT_EQ(tenure::allocate_held(1, {.alignment = 16, .how = fill::none, .kind = kind}, made), status::ok);
    }
    ASSERT_NE(table().add(&made, 2, nullptr, nullptr).entry, 0u);
}

TEST(handle_memory, what_is_live_at_the_programs_end_is_told_as_the_option_says) {
    setenv("GTEST_ALSO_RUN_DISABLED_TESTS", "1", 1);
    const std::string filter = "*DISABLED_something_is_left_behind";
    const auto text = support::run_again({{"TENURE_HANDLE_REPORT", "text"}}, filter);
    const auto json = support::run_again({{"TENURE_HANDLE_REPORT", "json"}}, filter);
    const auto none = support::run_again({}, filter);
    unsetenv("GTEST_ALSO_RUN_DISABLED_TESTS");
    EXPECT_NE(text.output.find("forgotten of 77 bytes"), std::string::npos) << text.output;
    EXPECT_NE(text.output.find("held 1 time"), std::string::npos) << text.output;
    EXPECT_NE(json.output.find("\"handles\": [{\"kind\": \"forgotten\", \"bytes\": 77, \"holders\": 1"),
              std::string::npos)
        << json.output;
    const auto says = [&](const std::string& kind, int bytes) {
        return json.output.find("{\"kind\": \"" + kind + "\", \"bytes\": " + std::to_string(bytes) + ", ") !=
               std::string::npos;
    };
    EXPECT_NE(json.output.find("\"held_count\": 1, \"handles\": ["), std::string::npos) << json.output;
    EXPECT_TRUE(says(R"(a \"quoted\" \\ \u000a kind)", 1)) << json.output;
    EXPECT_TRUE(says("no \xEF\xBF\xBD\xEF\xBF\xBD UTF-8 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 1)) << json.output;
    EXPECT_TRUE(says("\xC3\xA9\xE2\x82\xAC", 1)) << json.output;
    EXPECT_TRUE(says(std::string(128, 'x'), 1)) << json.output;
    EXPECT_TRUE(says(std::string(127, 'x'), 1)) << json.output;
    EXPECT_TRUE(says("memory", 2)) << json.output;
    EXPECT_NE(json.output.find("}]}\n"), std::string::npos) << json.output;
    EXPECT_NE(text.output.find("a \"quoted\" \\ ? kind of 1 bytes"), std::string::npos) << text.output;
    EXPECT_EQ(json.status, 0);
    EXPECT_EQ(none.output.find("forgotten"), std::string::npos) << none.output;
    EXPECT_EQ(text.status, 0);
}

/// Memory of 3 MiB is made and freed under different values of the option, which the process heap does not ask again.
void free_under_another_option(std::uint64_t when_made, std::uint64_t when_freed, tenure::handle_releaser releaser) {
    constexpr std::size_t bytes = std::size_t{3} << 20;
    const std::size_t live_before = tenure::heap::process().stats().live_count;
    for (const fill how : {fill::zero, fill::none}) {
        handle made, neighbour;
        ASSERT_TRUE(tenure::set_option(tenure::option::passthrough, when_made));
        ASSERT_EQ(tenure::allocate_held(bytes, {.how = how, .releaser = releaser, .kind = "test"}, made), status::ok);
        ASSERT_EQ(tenure::allocate_held(bytes, {.how = how, .kind = "test"}, neighbour), status::ok);
        EXPECT_EQ(tenure::address_of(made.pointer) % tenure::cache_line_bytes, 0u);
        std::memset(made.pointer, 0x77, bytes);
        std::memset(neighbour.pointer, 0x77, bytes);
        ASSERT_TRUE(tenure::set_option(tenure::option::passthrough, when_freed));
        EXPECT_EQ(table().remove(made), status::ok);
        EXPECT_EQ(table().remove(neighbour), status::ok);
    }
    EXPECT_EQ(tenure::heap::process().stats().live_count, live_before);
}

void free_under_other_options() {
    const auto own_releaser = [](void* memory, std::size_t bytes) noexcept { tenure::deallocate_held(memory, bytes); };
    const std::uint64_t before = tenure::option_value(tenure::option::passthrough);
    for (const tenure::handle_releaser releaser : {tenure::handle_releaser{nullptr}, +own_releaser}) {
        free_under_another_option(0, tenure::all_parts, releaser);
        free_under_another_option(tenure::all_parts, 0, releaser);
        free_under_another_option(tenure::all_parts, tenure::all_parts, releaser);
    }
    ASSERT_TRUE(tenure::set_option(tenure::option::passthrough, before));
    EXPECT_TRUE(tenure::heap::process().valid());
}

TEST(handle_memory, memory_goes_back_the_way_it_came_whatever_passthrough_says_by_then) {
    free_under_other_options();
    if (testing::Test::HasFailure() || std::getenv("TENURE_PASSTHROUGH") != nullptr) return;
    const auto seen = support::run_again({{"TENURE_PASSTHROUGH", "heap"}}, "*memory_goes_back_the_way_it_came*");
    EXPECT_EQ(seen.status, 0) << seen.output;
}

}
