// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/snapshot.hpp"
#include "report/write.hpp"
#include "support/own_path.hpp"

namespace tenure::lab {

namespace {

std::string error_of(std::string_view text) {
    const loaded_result loaded = parse_json(text);
    EXPECT_FALSE(loaded.ok()) << text;
    return loaded.error;
}

TEST(json, the_file_is_as_it_was) { expect_snapshot("results.json", to_json(fixture::small_result())); }

TEST(json, a_result_comes_back_as_it_was) {
    for (const result& found : {fixture::small_result(), fixture::plausible_result(), result{}}) {
        const std::string text = to_json(found);
        const loaded_result loaded = parse_json(text);
        ASSERT_TRUE(loaded.ok()) << loaded.error;
        EXPECT_EQ(to_json(loaded.value), text);
    }
}

TEST(json, a_declared_role_comes_back_whatever_the_name_says) {
    const result before = fixture::small_result();
    for (const contestant_role role :
         {contestant_role::peer, contestant_role::ours, contestant_role::checked, contestant_role::reference}) {
        result found = before;
        for (contestant_result& who : found.experiments[0].contestants) who.role = role;
        const loaded_result back = parse_json(to_json(found));
        for (const contestant_result& who : back.value.experiments.at(0).contestants) {
            EXPECT_EQ(who.role, role) << who.name;
        }
    }
}

TEST(json, a_file_without_roles_is_read_by_its_names) {
    const std::string text =
        R"~({"format":1,"experiments":[{"contestants":[{"name":"tenure pool","kind":"inlined"},{"name":"jemalloc"},)~"
        R"~({"name":"tenure hardened","kind":"preload"},{"name":"a bump","kind":"reference (ours)"}]}]})~";
    const std::vector<contestant_result> found = parse_json(text).value.experiments.at(0).contestants;
    EXPECT_EQ(found.at(0).role, contestant_role::ours);
    EXPECT_EQ(found.at(1).role, contestant_role::peer);
    EXPECT_EQ(found.at(2).role, contestant_role::checked);
    EXPECT_EQ(found.at(3).role, contestant_role::reference);
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[{"contestants":[{"role":"friend"}]}]})"),
              "experiments[0].contestants[0].role: expected one of peer, ours, checked, reference");
}

TEST(json, numbers_come_back_to_the_last_bit) {
    result found = fixture::small_result();
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double>& samples = found.experiments[0].contestants[0].metrics[0].samples;
    samples = {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, infinity, -infinity, std::nan("")};
    std::vector<std::int64_t>& values = found.experiments[0].contestants[0].lists[0].values;
    values = {std::numeric_limits<std::int64_t>::min(), -1, 0, std::numeric_limits<std::int64_t>::max()};
    found.machine.memory_bytes = std::numeric_limits<std::uint64_t>::max();
    const result back = parse_json(to_json(found)).value;
    const std::vector<double>& read = back.experiments[0].contestants[0].metrics[0].samples;
    ASSERT_EQ(read.size(), samples.size());
    for (std::size_t index = 0; index + 1 < samples.size(); ++index) EXPECT_EQ(read[index], samples[index]);
    EXPECT_TRUE(std::signbit(read[4]));
    EXPECT_TRUE(std::isnan(read.back()));
    EXPECT_EQ(back.experiments[0].contestants[0].lists[0].values, values);
    EXPECT_EQ(back.machine.memory_bytes, found.machine.memory_bytes);
}

TEST(json, a_list_is_null_where_it_has_no_number) {
    result found = fixture::small_result();
    std::vector<std::int64_t>& values = found.experiments[0].contestants[0].lists[0].values;
    values = {7, no_number, 0};
    const std::string text = to_json(found);
    EXPECT_NE(text.find("[7,null,0]"), std::string::npos);
    EXPECT_EQ(parse_json(text).value.experiments[0].contestants[0].lists[0].values, values);
}

TEST(json, a_failed_round_is_null) {
    EXPECT_NE(to_json(fixture::small_result()).find("[2.0,2.5,null]"), std::string::npos);
}

TEST(json, text_that_is_no_utf8_does_not_stop_the_report) {
    result found;
    found.command = "tenure bench \xFF\xFE";
    EXPECT_TRUE(parse_json(to_json(found)).ok());
}

TEST(json, text_that_is_no_json_is_refused_with_its_place) {
    EXPECT_NE(error_of("{\"format\": 1,\n oops").find("line 2"), std::string::npos);
    EXPECT_NE(error_of("").find("not JSON"), std::string::npos);
}

TEST(json, names_of_a_foreign_file_carry_no_escape_sequences) {
    const std::string text = R"({"format":1,"experiments":[{"name":"\u001b]0;title\u0007","unfair":["\u009b31m"],)"
                             R"("properties":[{"columns":["\u001b[2J"],"rows":[["\u001b[31mred"]]}],)"
                             R"("contestants":[{"name":"\u001b[31mred","metrics":[{"name":"\n","unit":"\u007f"}]}]}]})";
    const loaded_result loaded = parse_json(text);
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    const experiment_result& found = loaded.value.experiments.at(0);
    EXPECT_EQ(found.name, " ]0;title ");
    EXPECT_EQ(found.unfair, std::vector<std::string>{" 31m"});
    EXPECT_EQ(found.properties.at(0).columns, std::vector<std::string>{" [2J"});
    EXPECT_EQ(found.properties.at(0).rows.at(0), std::vector<std::string>{" [31mred"});
    EXPECT_EQ(found.contestants.at(0).name, " [31mred");
    EXPECT_EQ(found.contestants.at(0).metrics.at(0).name, " ");
    EXPECT_EQ(found.contestants.at(0).metrics.at(0).unit, " ");
    EXPECT_EQ(error_of("{\"\x7f\xc2\x9b").find_first_of("\x7f\x9b"), std::string::npos);
}

TEST(json, levels_without_end_are_refused) {
    EXPECT_NE(error_of(std::string(1'000'000, '[')).find("levels"), std::string::npos);
    EXPECT_NE(error_of(std::string(100, '{')).find("levels"), std::string::npos);
    const std::string brackets = "\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"";
    EXPECT_TRUE(parse_json("{\"format\":1,\"experiments\":[],\"command\":" + brackets + "}").ok()) << "in a string";
}

TEST(json, another_file_is_refused) {
    for (const std::string_view text : {"[]", "3", "{}", "{\"format\":1}", "{\"format\":\"1\",\"experiments\":[]}"}) {
        EXPECT_NE(error_of(text).find("not a result of `tenure bench`"), std::string::npos) << text;
    }
}

TEST(json, a_newer_file_is_refused_with_what_to_do) {
    const std::string error = error_of("{\"format\":3,\"experiments\":[]}");
    EXPECT_EQ(error, "format 3 was written by a newer `tenure`; this one reads formats up to 2: update it");
    EXPECT_FALSE(error_of("{\"format\":99999999999999999999,\"experiments\":[]}").empty());
    EXPECT_EQ(error_of("{\"format\":0,\"experiments\":[]}"), "unknown format 0");
}

TEST(json, a_field_of_another_kind_is_refused_with_its_place) {
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[{"contestants":[{"metrics":[{"samples":[1,"x"]}]}]}]})"),
              "experiments[0].contestants[0].metrics[0].samples[1]: expected a number or null");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":{}})"), "experiments: expected a list");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[3]})"), "experiments[0]: expected an object");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[],"command":3})"), "command: expected a string");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[],"machine":{"cores":-1}})"),
              "machine.cores: expected a whole number that is not negative");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[],"machine":{"cores":4294967296}})"),
              "machine.cores: expected a whole number that is not negative");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[{"contestants":[{"state":"fine"}]}]})"),
              "experiments[0].contestants[0].state: expected one of measured, missing, failed");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[{"contestants":[{"lists":[{"values":[1.5]}]}]}]})"),
              "experiments[0].contestants[0].lists[0].values[0]: expected a whole number of at most 63 bits");
    EXPECT_EQ(error_of(R"({"format":1,"experiments":[{"properties":[{"rows":["a"]}]}]})"),
              "experiments[0].properties[0].rows[0]: expected a list of strings");
}

TEST(json, fields_of_later_versions_are_ignored_and_absent_ones_keep_their_defaults) {
    const loaded_result loaded = parse_json(R"({"format":1,"experiments":[{"name":"x","colour":[1,{}]}],"more":null})");
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    EXPECT_EQ(loaded.value.experiments[0].name, "x");
    EXPECT_TRUE(loaded.value.complete);
}

TEST(json, a_file_cut_off_anywhere_is_refused) {
    const std::string whole = to_json(fixture::small_result());
    for (std::size_t length = 0; length + 1 < whole.size(); length += 7) {
        EXPECT_FALSE(parse_json(std::string_view(whole).substr(0, length)).ok()) << length;
    }
}

TEST(json, deep_nesting_does_not_exhaust_the_stack) { EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).ok()); }

TEST(json, a_file_that_is_not_there_is_named) {
    const loaded_result loaded = load_json("/nowhere/at/all.json");
    EXPECT_EQ(loaded.error, "/nowhere/at/all.json: cannot be read: No such file or directory");
}

TEST(json, a_directory_stands_for_the_results_in_it) {
    const std::filesystem::path directory = support::own_path("json");
    ASSERT_EQ(write_all(fixture::small_result(), directory), "");
    const loaded_result loaded = load_json(directory);
    EXPECT_TRUE(loaded.ok()) << loaded.error;
    EXPECT_EQ(loaded.value.experiments.size(), 2U);
    std::filesystem::remove_all(directory);
}

TEST(json, a_file_with_more_than_any_result_has_is_refused) {
    result found = fixture::small_result();
    found.experiments[0].contestants.resize(101, found.experiments[0].contestants[0]);
    EXPECT_EQ(parse_json(to_json(found)).error,
              "not a result of `tenure bench`: 101 contestants in one experiment; the maximum is 100");
    found = fixture::small_result();
    found.experiments[0].contestants[0].metrics.resize(10'001);
    const std::string error = parse_json(to_json(found)).error;
    EXPECT_NE(error.find("figures; the maximum is 10000"), std::string::npos) << error;
}
}
}
