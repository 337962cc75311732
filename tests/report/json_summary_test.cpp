// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/json/json_summary.hpp"

#include <gtest/gtest.h>

#include "report/analysis/metric_value.hpp"
#include "report/fixture.hpp"
#include "report/json/json.hpp"
#include "report/result/summarized.hpp"
#include "report/snapshot.hpp"

namespace tenure::lab {

namespace {

/// A summary with two contestants, whose experiment ends with `fields`.
std::string file_with(std::string_view fields) {
    return fmt::format(R"({{"format":2,"experiments":[{{"name":"x","rounds":7,"contestants":[{{"name":"tenure"}},)"
                       R"({{"name":"b"}},{{"name":"c","state":"failed"}}]{}{}}}]}})",
                       fields.empty() ? "" : ",", fields);
}

std::string error_of_fields(std::string_view fields) {
    const loaded_result loaded = parse_json(file_with(fields));
    EXPECT_FALSE(loaded.ok()) << fields;
    return loaded.error;
}

/// The fields of an experiment with these figures of one variant.
std::string figures_with(std::string_view figures) {
    return fmt::format(R"("variants":[{{"variant":"warm","figures":[{}]}}])", figures);
}

/// The error for the fields of a figure.
std::string figure_error(std::string_view fields) {
    return error_of_fields(figures_with(fmt::format(R"({{"figure":["alloc","ns/op"],{}}})", fields)));
}

const std::string at = "experiments[0].variants[0].figures[0].";

TEST(json_summary, the_file_is_as_it_was) {
    expect_snapshot("summary.json", to_json(summarized(fixture::small_result())));
}

TEST(json_summary, a_summary_comes_back_as_it_was) {
    for (const result& found : {fixture::small_result(), fixture::plausible_result()}) {
        const std::string text = to_json(summarized(found));
        const loaded_result loaded = parse_json(text);
        ASSERT_TRUE(loaded.ok()) << loaded.error;
        EXPECT_EQ(to_json(loaded.value), text);
        EXPECT_LT(text.size() * 2, to_json(found).size());
    }
}

TEST(json_summary, the_forms_of_a_value_are_read) {
    const loaded_result loaded = parse_json(file_with(figures_with(
        R"({"figure":["a",""],"values":[[3],[4,2]]},{"figure":["b",""],"values":[[3,2,5],[3,2,5,0.5],[]]},)"
        R"({"figure":["c",""],"rounds":4,"values":[[3,2,5,null,6],[3,"-inf","inf",0.5,2],[1]]},)"
        R"({"figure":["d",""],"values":[null,[1]]})")));
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    const std::vector<contestant_result>& who = loaded.value.experiments[0].contestants;
    const auto expect = [&](std::size_t row, std::size_t index, double median, double low, double high,
                            std::size_t rounds, std::size_t ratios, double ratio) {
        const metric& one = who[row].metrics.at(index);
        EXPECT_EQ(value_of(one).median, median);
        EXPECT_EQ(value_of(one).low, low);
        EXPECT_EQ(value_of(one).high, high);
        EXPECT_EQ(value_of(one).count, rounds);
        EXPECT_EQ(ratio_of(one, one).count, ratios);
        if (ratios != 0) {
            EXPECT_EQ(ratio_of(one, one).median, ratio);
        }
    };
    const double infinity = std::numeric_limits<double>::infinity();
    expect(0, 0, 3, 3, 3, 7, 0, 0);
    expect(1, 0, 4, 4, 4, 7, 7, 2);
    expect(0, 1, 3, 2, 5, 7, 0, 0);
    expect(1, 1, 3, 2, 5, 7, 7, 0.5);
    expect(0, 2, 3, 2, 5, 6, 0, 0);
    expect(1, 2, 3, -infinity, infinity, 2, 2, 0.5);
    ASSERT_EQ(who[0].metrics.size(), 3U) << "null: the contestant does not have the figure";
    ASSERT_EQ(who[1].metrics.size(), 4U);
    ASSERT_EQ(who[2].metrics.size(), 2U) << "no item: it does not have the figure either";
    EXPECT_EQ(value_of(who[2].metrics[0]).count, 0U) << "[]: it has the figure and no number";
    EXPECT_EQ(value_of(who[2].metrics[1]).count, 4U);
}

TEST(json_summary, the_forms_of_a_verdict_are_read) {
    const loaded_result loaded = parse_json(file_with(figures_with(
        R"({"figure":["a",""],"best":[1,0],"values":[[3],[4]],"verdict":[0,null,1,"level",1.01]},)"
        R"({"figure":["b",""],"values":[[3],[4]],"verdict":[0,null,1,"trails"]},)"
        R"({"figure":["c",""],"values":[[3],[4]],"verdict":[null,1]},{"figure":["d",""],"values":[[3],[4]]})")));
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    const std::vector<judged_figure>& figures = loaded.value.experiments[0].summarized->figures;
    ASSERT_EQ(figures.size(), 4U);
    EXPECT_EQ(figures[0].best, (std::vector<std::string>{"b", "tenure"}));
    EXPECT_EQ(figures[0].ours + figures[0].reference + figures[0].other, "tenureb");
    EXPECT_EQ(figures[0].stands, standing::level);
    EXPECT_DOUBLE_EQ(figures[0].against.median, 1.01);
    EXPECT_EQ(figures[1].stands, standing::trails);
    EXPECT_EQ(figures[1].against.count, 0U) << "there is no ratio";
    EXPECT_EQ(figures[2].ours + figures[2].other, "");
    EXPECT_EQ(figures[2].reference, "b");
    EXPECT_EQ(figures[3].reference, "");
    EXPECT_EQ(figures[3].stands, standing::none);
}

TEST(json_summary, an_experiment_without_figures_is_refused) {
    EXPECT_EQ(error_of_fields(""), "experiments[0].variants: expected a list, which every experiment of a summary has");
    EXPECT_EQ(error_of_fields(R"("variants":{})"), "experiments[0].variants: expected a list");
    EXPECT_EQ(error_of_fields(R"("variants":[3])"), "experiments[0].variants[0]: expected an object");
    EXPECT_EQ(error_of_fields(R"("variants":[{"variant":"warm"}])"),
              "experiments[0].variants[0].figures: expected a list of the figures of the variant");
    EXPECT_EQ(error_of_fields(R"("variants":[{"variant":7,"figures":[]}])"),
              "experiments[0].variants[0].variant: expected a string");
    EXPECT_EQ(error_of_fields(figures_with("3")), "experiments[0].variants[0].figures[0]: expected an object");
    EXPECT_TRUE(parse_json(file_with(R"("variants":[])")).ok());
    EXPECT_TRUE(parse_json(file_with(figures_with(""))).ok());
}

TEST(json_summary, a_figure_without_names_is_refused_and_so_is_one_that_is_there_twice) {
    const std::string one = R"({"figure":["a","b"],"values":[]})";
    EXPECT_EQ(error_of_fields(figures_with(R"({"values":[]})")), at + "figure: expected a list of 2 (metric, unit)");
    EXPECT_EQ(error_of_fields(figures_with(R"({"figure":["a"],"values":[]})")),
              at + "figure: expected a list of 2 (metric, unit), not of 1");
    EXPECT_EQ(error_of_fields(figures_with(R"({"figure":["a",3],"values":[]})")), at + "figure[1]: expected a string");
    EXPECT_EQ(error_of_fields(figures_with(one + "," + one)),
              "experiments[0].variants[0].figures[1].figure: expected a figure that is not in the experiment yet");
    EXPECT_EQ(error_of_fields(R"("variants":[{"figures":[)" + one + R"(]},{"figures":[)" + one + "]}]"),
              "experiments[0].variants[1].figures[0].figure: expected a figure that is not in the experiment yet");
}

TEST(json_summary, pairs_of_another_kind_are_refused) {
    EXPECT_EQ(error_of_fields(R"("parameters":[["--count"]],"variants":[])"),
              "experiments[0].parameters[0]: expected a list of 2 (name, value), not of 1");
    EXPECT_EQ(error_of_fields(R"("primary":[["alloc",3]],"variants":[])"),
              "experiments[0].primary[0][1]: expected a string");
}

TEST(json_summary, values_of_another_kind_or_number_are_refused_with_their_place) {
    EXPECT_EQ(figure_error(R"("better":"smaller")"), at + "values: expected a list with an item for each contestant");
    EXPECT_EQ(figure_error(R"("values":[[1],[2],[3],[4]])"),
              at + "values: expected a list of at most 3 (an item for each contestant), not of 4");
    EXPECT_EQ(figure_error(R"("values":7)"), at + "values: expected a list of at most 3 (an item for each contestant)");
    const std::string cell = at + "values[1]";
    EXPECT_EQ(figure_error(R"("values":[[1],2,null])"),
              cell + ": expected a list of at most 5 (median, low, high, ratio, rounds)");
    EXPECT_EQ(figure_error(R"("values":[[1],[1,2,3,4,5,6],null])"),
              cell + ": expected a list of at most 5 (median, low, high, ratio, rounds), not of 6");
    EXPECT_EQ(figure_error(R"("values":[[1],["1"],null])"), cell + "[0]: expected a number or null");
    EXPECT_EQ(figure_error(R"("values":[[1],[1,2,true],null])"), cell + "[2]: expected a number or null");
    EXPECT_EQ(figure_error(R"("values":[[1],[1,2,3,{}],null])"), cell + "[3]: expected a number or null");
    EXPECT_EQ(figure_error(R"("values":[[1],[1,2,3,4,-5],null])"),
              cell + "[4]: expected a whole number that is not negative");
    EXPECT_EQ(figure_error(R"("rounds":0,"values":[null,[1],null])"),
              cell + ": expected a number of rounds above 0, here or for the figure or the experiment");
    EXPECT_EQ(figure_error(R"("better":"finer","values":[[1],[1],null])"),
              at + "better: expected one of smaller, larger, neither");
}

TEST(json_summary, a_verdict_about_somebody_without_the_figure_is_refused) {
    const std::string values = R"("values":[[1],null,[1]],)";
    const std::string absent = ": expected the index of a contestant that has this figure";
    EXPECT_EQ(figure_error(values + R"("best":[0,1])"), at + "best[1]" + absent);
    EXPECT_EQ(figure_error(values + R"("best":[2])"), at + "best[0]" + absent) << "it failed";
    EXPECT_EQ(figure_error(values + R"("best":[3])"), at + "best[0]" + absent);
    EXPECT_EQ(figure_error(values + R"("best":["tenure"])"),
              at + "best[0]: expected a whole number that is not negative");
    EXPECT_EQ(figure_error(values + R"("best":0)"), at + "best: expected a list");
    EXPECT_EQ(figure_error(values + R"("verdict":[0,1])"), at + "verdict[1]" + absent);
    EXPECT_EQ(figure_error(values + R"("verdict":[0,null,null,"none",1,1])"),
              at + "verdict: expected a list of at most 5 (ours, reference, other, standing, ratio), not of 6");
    EXPECT_EQ(figure_error(values + R"("verdict":{})"),
              at + "verdict: expected a list of at most 5 (ours, reference, other, standing, ratio)");
    EXPECT_EQ(figure_error(values + R"("verdict":[0,null,null,"wins",1])"),
              at + "verdict[3]: expected one of none, leads, level, trails");
    EXPECT_EQ(figure_error(values + R"("verdict":[0,null,null,"trails",1])"),
              at + "verdict[3]: expected none, because ours or other is null");
    EXPECT_EQ(figure_error(values + R"("verdict":[0,null,null,"none","x"])"),
              at + "verdict[4]: expected a number or null");
}

TEST(json_summary, quotients_rank_and_distances_of_another_kind_are_refused) {
    const auto after = [](std::string_view fields) {
        return error_of_fields(R"("variants":[],)" + std::string(fields));
    };
    const std::string experiment = "experiments[0].";
    const std::string quotient = R"("quotients":[{"title":"a/b","over":"a","under":"b"}],"quotient_values":)";
    EXPECT_EQ(after(quotient + R"([{"figure":"alloc"}])"),
              experiment + "quotient_values[0].values: expected a list with an item for each quotient");
    EXPECT_EQ(after(quotient + R"([{"figure":"alloc","values":[[],[]]}])"),
              experiment + "quotient_values[0].values: expected a list of 1 (one item for each quotient), not of 2");
    EXPECT_EQ(after(quotient + R"([{"figure":"alloc","values":[[1,2]]}])"),
              experiment + "quotient_values[0].values[0]: expected a list of 4 (median, low, high, rounds), not of 2");
    EXPECT_EQ(after(quotient + R"([{"figure":"alloc","values":[[1,2,3,0.5]]}])"),
              experiment + "quotient_values[0].values[0][3]: expected a whole number that is not negative");
    EXPECT_EQ(after(R"("rank":[[0,1]])"),
              experiment + "rank[0]: expected a list of 4 (contestant, score, measured, possible), not of 2");
    EXPECT_EQ(after(R"("rank":[[3,1,1,1]])"), experiment + "rank[0][0]: expected the index of a contestant, below 3");
    EXPECT_EQ(after(R"("distances":[{"values":[]}])"),
              experiment + "distances[0].contestant: expected the index of a contestant");
    EXPECT_EQ(after(R"("distances":[{"contestant":0}])"),
              experiment + "distances[0].values: expected a list of 7 numbers");
    EXPECT_EQ(after(R"("distances":[{"contestant":0,"values":[1,2,3,4,5,6.5,7]}])"),
              experiment + "distances[0].values[5]: expected a whole number of at most 63 bits");
}

TEST(json_summary, a_file_cut_off_anywhere_is_refused) {
    const std::string whole = to_json(summarized(fixture::small_result()));
    for (std::size_t length = 0; length + 1 < whole.size(); length += 7) {
        EXPECT_FALSE(parse_json(std::string_view(whole).substr(0, length)).ok()) << length;
    }
}

TEST(json_summary, a_file_with_more_than_any_summary_has_is_refused) {
    std::string figures;
    for (int index = 0; index <= 10'000; ++index) {
        figures += fmt::format(R"({}{{"figure":["{}",""],"values":[]}})", index == 0 ? "" : ",", index);
    }
    EXPECT_EQ(error_of_fields(figures_with(figures)),
              "not a result of `tenure bench`: 10001 figures; the maximum is 10000");
}

TEST(json_summary, names_of_a_foreign_file_carry_no_escape_sequences) {
    const loaded_result loaded = parse_json(file_with(
        R"("variants":[{"variant":"\u0007","figures":[{"figure":["\u001b[31m","\u009b"],"values":[[1]]}]}])"));
    ASSERT_TRUE(loaded.ok()) << loaded.error;
    const metric& one = loaded.value.experiments[0].contestants[0].metrics.at(0);
    EXPECT_EQ(one.name + one.variant + one.unit, " [31m  ");
}

}

}
