// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/result/csv.hpp"

#include <algorithm>
#include <locale>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/snapshot.hpp"

namespace tenure::lab {

namespace {

const named_text* find(const std::vector<named_text>& files, std::string_view name) {
    const auto place =
        std::find_if(files.begin(), files.end(), [&](const named_text& one) { return one.name == name; });
    return place == files.end() ? nullptr : &*place;
}

experiment_result with_distances(std::string contestant, std::vector<std::int64_t> values) {
    experiment_result made;
    made.name = "lifetimes";
    made.contestants.emplace_back();
    made.contestants[0].name = std::move(contestant);
    made.contestants[0].metrics = {{"alloc", "cold", "ns/op", better::smaller, {1.05}}};
    made.contestants[0].lists = {{"distances", "cold", "bytes", std::move(values)}};
    return made;
}

/// Writes numbers as much of the world does: a comma before the fraction, points between thousands.
class comma_numbers : public std::numpunct<char> {
protected:
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

TEST(csv, the_long_table_is_as_it_was) { expect_snapshot("results.csv", to_csv(fixture::small_result())); }

TEST(csv, the_locale_of_the_program_changes_nothing) {
    const std::string before = to_csv(fixture::small_result());
    const std::locale restored = std::locale::global(std::locale(std::locale(), new comma_numbers));
    const std::string after = to_csv(fixture::small_result());
    const std::vector<named_text> files = article_files(fixture::plausible_result().experiments[0]);
    std::locale::global(restored);
    EXPECT_EQ(before, after);
    EXPECT_EQ(find(files, "tenure-Temp_cold_buckets.csv")->text,
              "Distance,Count\n16,818\n140685055869340,1\n28,144\n44,36\n");
}

TEST(csv, every_line_has_the_same_number_of_fields) {
    const std::string text = to_csv(fixture::plausible_result());
    std::size_t expected = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        std::size_t fields = 1;
        bool quoted = false;
        for (const char letter : text.substr(begin, end - begin)) {
            if (letter == '"') quoted = !quoted;
            if (letter == ',' && !quoted) ++fields;
        }
        if (expected == 0) expected = fields;
        ASSERT_EQ(fields, expected) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

TEST(csv, a_figure_below_zero_stands_as_it_is_and_has_no_ratio) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics[0].samples = {-3.0, 2.0, 4.0};
    const std::string text = to_csv(found);
    EXPECT_NE(text.find("warm,alloc,ns/op,smaller,3,2,-0.5,3,,,,-3 2 4\n"), std::string::npos) << text;
}

TEST(csv, a_part_that_somebody_was_left_out_of_has_a_line_with_the_reason) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].left_out = {{"all, 8 B", "it never ends"}};
    const std::string text = to_csv(found);
    EXPECT_NE(
        text.find("lifetimes,glibc malloc,2.36,system,left out,it never ends,Release,glibc malloc,\"all, 8 B\",,,,0"),
        std::string::npos)
        << text;
}

TEST(article, temp_has_the_three_files_of_the_article) {
    experiment_result found = with_distances("Temp", fixture::article_temp_distances());
    found.parameters = {{"--count", "1000"}};
    found.contestants[0].metrics.push_back({"free", "cold", "ns/op", better::smaller, {0.25}});
    const std::vector<named_text> files = article_files(found);
    ASSERT_EQ(files.size(), 3U);
    EXPECT_EQ(files[0].name, "Temp_times.csv");
    EXPECT_EQ(files[0].text, "Operation,Time_ns\nAllocate,1050\nDeallocate,250\n");
    EXPECT_EQ(files[1].name, "Temp_distances.csv");
    EXPECT_EQ(files[1].text.substr(0, 15), "Distance\n16\n16\n");
    EXPECT_EQ(std::count(files[1].text.begin(), files[1].text.end(), '\n'), 1000);
    EXPECT_EQ(files[2].name, "Temp_buckets.csv");
    EXPECT_EQ(files[2].text, "Distance,Count\n16,818\n140685055869340,1\n28,144\n44,36\n");
}

TEST(article, without_a_count_the_time_is_per_operation_and_says_so) {
    const std::vector<named_text> files = article_files(with_distances("Temp", {1, 2}));
    EXPECT_EQ(files[0].text, "Operation,Time_ns_per_operation\nAllocate,1.05\n");
}

TEST(article, variants_stand_in_the_name_only_where_there_are_several) {
    const std::vector<named_text> files = article_files(fixture::small_result().experiments[0]);
    ASSERT_EQ(files.size(), 12U);
    EXPECT_NE(find(files, "glibc-malloc_cold_distances.csv"), nullptr);
    EXPECT_NE(find(files, "tenure-temp_warm_buckets.csv"), nullptr);
}

TEST(article, an_experiment_without_distances_has_no_files) {
    EXPECT_TRUE(article_files(fixture::small_result().experiments[1]).empty());
}

TEST(article, who_failed_has_no_files) {
    experiment_result found = with_distances("Temp", {1});
    found.contestants[0].state = outcome::failed;
    EXPECT_TRUE(article_files(found).empty());
}

TEST(article, names_that_differ_in_case_only_get_different_files) {
    experiment_result found = with_distances("Temp", {1});
    found.contestants.push_back(found.contestants[0]);
    found.contestants[1].name = "TEMP";
    found.contestants.push_back(found.contestants[0]);
    found.contestants[2].name = "temp!";
    const std::vector<named_text> files = article_files(found);
    EXPECT_NE(find(files, "Temp_distances.csv"), nullptr);
    EXPECT_NE(find(files, "TEMP-2_distances.csv"), nullptr);
    EXPECT_NE(find(files, "temp-3_distances.csv"), nullptr);
}

TEST(article, file_names_are_safe_everywhere) {
    EXPECT_EQ(safe_file_name("boost::pool<T>"), "boost-pool-T");
    EXPECT_EQ(safe_file_name("../../etc/passwd"), "etc-passwd");
    EXPECT_EQ(safe_file_name("jemalloc 5.3"), "jemalloc-5.3");
    EXPECT_EQ(safe_file_name(""), "unnamed");
    EXPECT_EQ(safe_file_name("…"), "unnamed");
    EXPECT_EQ(safe_file_name("CON"), "CON-");
    EXPECT_EQ(safe_file_name("lpt1.txt"), "lpt1.txt-");
    EXPECT_LE(safe_file_name(std::string(5000, 'x')).size(), 100U);
}

}

}
