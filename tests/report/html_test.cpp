// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "report/html/html.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "report/fixture.hpp"
#include "report/html/html_words.hpp"
#include "report/page_check.hpp"
#include "report/snapshot.hpp"
#include "support/holds.hpp"

namespace tenure::lab {

namespace {

using support::holds;

/// The page without its style sheet, whose changes are looked at in a browser.
std::string body_of(const std::string& page) {
    const std::size_t begin = page.find("<style>") + 7;
    return page.substr(0, begin) + "…" + page.substr(page.find("</style>"));
}

std::string faults(const std::string& page) {
    std::string lines;
    for (const std::string& fault : faults_of(page)) lines += fault + "\n";
    return lines;
}

TEST(html, the_page_is_as_it_was) { expect_snapshot("report.html", body_of(to_html(fixture::small_result()))); }

TEST(html, pages_are_well_formed_and_every_reference_leads_somewhere) {
    EXPECT_EQ(faults(to_html(fixture::small_result())), "");
    EXPECT_EQ(faults(to_html(fixture::plausible_result())), "");
    EXPECT_EQ(faults(to_html(result{})), "");
}

TEST(html, an_experiment_without_anything_in_it_is_still_a_page) {
    result found;
    found.experiments.emplace_back();
    const std::string page = to_html(found);
    EXPECT_EQ(faults(page), "");
    EXPECT_TRUE(holds(page, "Nothing was measured."));
}

TEST(html, the_page_needs_no_network_and_no_script) {
    const std::string page = to_html(fixture::plausible_result());
    for (const std::string_view words :
         {"http:", "https:", "src=", "@import", "<script", "<link", "javascript:", "url(//"}) {
        EXPECT_FALSE(holds(page, words)) << words;
    }
    EXPECT_EQ(count_of(page, "url("), count_of(page, "url(#")) << "only patterns of the page itself";
    EXPECT_TRUE(holds(page, "default-src 'none'"));
}

TEST(html, whatever_the_data_holds_is_text) {
    const std::string nasty = "</script><img src=x onerror=\"alert('1')\">&amp;\x01\xFF";
    result found = fixture::small_result();
    found.command = found.started_at = found.machine.cpu = found.machine.flags = nasty;
    for (experiment_result& experiment : found.experiments) {
        experiment.name = experiment.question = experiment.ranking_rule = nasty;
        experiment.unfair = {nasty};
        experiment.parameters = {{nasty, nasty}};
        for (property_table& properties : experiment.properties) {
            properties.title = properties.columns[0] = properties.rows[0][1] = nasty;
        }
        for (quotient& asked : experiment.quotients) {
            asked.title = nasty;
            asked.over += nasty;
            asked.under += nasty;
        }
        for (contestant_result& who : experiment.contestants) {
            if (experiment.baseline == who.name) experiment.baseline += nasty;
            who.name += nasty;
            who.version = who.kind = who.reason = who.proof = who.note = nasty;
            who.left_out = {{nasty, nasty}};
            for (metric& measured : who.metrics) {
                measured.name += nasty;
                measured.variant += nasty;
                if (measured.unit != "MiB") measured.unit += nasty;
            }
            for (series& list : who.lists) list.variant += nasty;
        }
        for (std::string& name : experiment.ranking) name = nasty;
    }
    const std::string page = to_html(found);
    EXPECT_FALSE(holds(page, "<img"));
    EXPECT_FALSE(holds(page, "onerror=\""));
    EXPECT_FALSE(holds(page, "\x01"));
    EXPECT_FALSE(holds(page, "\xFF"));
    EXPECT_EQ(faults(page), "");
}

TEST(html, every_table_of_an_unoptimised_build_is_marked) {
    result found = fixture::plausible_result();
    EXPECT_EQ(count_of(to_html(found), "unoptimised build"), 0U);
    found.machine.flags = "-O0 -g";
    const std::string page = to_html(found);
    EXPECT_EQ(count_of(page, "<strong class=\"mark\">unoptimised build</strong></span></caption>"),
              count_of(page, "<table"));
    EXPECT_TRUE(holds(page, "This is an unoptimised build."));
}

TEST(html, an_interrupted_result_says_so) {
    result found = fixture::small_result();
    EXPECT_FALSE(holds(to_html(found), "Interrupted."));
    found.complete = false;
    EXPECT_TRUE(holds(to_html(found), "Interrupted."));
}

TEST(html, tables_tell_their_heads_from_their_cells) {
    const std::string page = to_html(fixture::plausible_result());
    EXPECT_EQ(count_of(page, "<th"), count_of(page, "<th scope=\"") + count_of(page, "<thead"));
    EXPECT_EQ(count_of(page, "<table"), count_of(page, "<caption>"));
}

TEST(html, pictures_have_a_title_and_a_description) {
    const std::string page = to_html(fixture::plausible_result());
    const std::size_t pictures = count_of(page, "role=\"img\"");
    EXPECT_GT(pictures, 30U);
    EXPECT_EQ(count_of(page, "<desc "), pictures);
    EXPECT_EQ(count_of(page, "<title id="), pictures);
    EXPECT_EQ(count_of(page, "<svg"), pictures + count_of(page, "aria-hidden=\"true\""));
}

TEST(html, the_summary_says_who_leads_and_where_ours_trail) {
    const std::string page = to_html(fixture::plausible_result());
    EXPECT_TRUE(holds(page, "Against the best of the others, the best of ours leads in 4 of 4 figures."));
    EXPECT_TRUE(holds(page, "It trails most at drop, 8 B"));
    EXPECT_TRUE(holds(page, "Most often the best choice: tenure pool"));
}

TEST(html, the_summary_names_who_was_not_measured) {
    EXPECT_TRUE(holds(to_html(fixture::plausible_result()), "Not measured: HPHA (missing), ./libmine.so (failed)."));
}

TEST(html, who_was_left_out_is_told_above_and_with_the_reason_below) {
    const std::string page = to_html(fixture::small_result());
    EXPECT_TRUE(holds(page, ", trivial bump (left out of 2 parts)."));
    EXPECT_TRUE(holds(page, "<th scope=\"row\">trivial bump</th><td><span class=\"tag missing\">left out</span> of "
                            "&quot;two threads, &lt;4&gt; B&quot;, &quot;overflow&quot;</td><td>it is one "
                            "thread&#39;s</td>"));
}

TEST(html, a_figure_below_zero_is_shown_without_a_ratio) {
    result found = fixture::small_result();
    found.experiments[0].contestants[1].metrics[0].samples = {-3.0, -2.0, -4.0}; // alloc, warm, of tenure temp
    const std::string page = to_html(found);
    EXPECT_EQ(faults(page), "");
    EXPECT_TRUE(holds(page, "−3.00"));
    EXPECT_FALSE(holds(page, "×-") || holds(page, "×−"));
    EXPECT_TRUE(holds(page, "Values without × are medians, where there is no ratio."));
}

TEST(html, the_clipped_distance_of_the_article_is_printed) {
    const std::string page = to_html(fixture::plausible_result());
    EXPECT_TRUE(holds(page, "140,685,055,869,340 at 819"));
    EXPECT_TRUE(holds(page, "budget ends at 819"));
}

TEST(html, scales_that_are_logarithmic_say_so) {
    EXPECT_TRUE(holds(to_html(fixture::plausible_result()), "<b>logarithmic scale</b>"));
}

TEST(html, without_the_baseline_it_says_why_there_are_no_ratios) {
    result found = fixture::small_result();
    found.experiments[0].contestants[0].state = outcome::failed;
    const std::string page = to_html(found);
    EXPECT_TRUE(holds(page, "baseline <b>glibc malloc</b>, which was not measured: no ratios"));
    EXPECT_EQ(faults(page), "");
}

TEST(html, extreme_figures_are_drawn_without_overflow) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& samples :
         {std::vector{1.79e308, 1.79e308, 1.0}, std::vector{5e-324, 0.0, 5e-324}, std::vector{-1.0, -2.0, -3.0},
          std::vector{infinity, -infinity, 1.0}, std::vector{infinity, infinity, infinity}}) {
        result found = fixture::small_result();
        for (contestant_result& who : found.experiments[0].contestants) {
            for (metric& measured : who.metrics) measured.samples = samples;
            if (who.name == "glibc malloc") who.metrics[0].samples = {1.0, 1.0, 1.0};
        }
        const std::string page = to_html(found);
        EXPECT_EQ(faults(page), "");
        EXPECT_FALSE(holds(page, "=\"nan") || holds(page, "=\"inf") || holds(page, "=\"-nan"));
        EXPECT_LT(page.size(), 200'000U);
    }
}

TEST(html_words, text_is_escaped) {
    EXPECT_EQ(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    EXPECT_EQ(element("td", "class=\"num\"", "a<b"), "<td class=\"num\">a&lt;b</td>");
}

TEST(html_words, what_is_no_letter_is_replaced) {
    EXPECT_EQ(escaped("é×…😀"), "é×…😀");
    EXPECT_EQ(escaped(std::string_view("a\0b\x1b", 4)), "a\uFFFDb\uFFFD");
    EXPECT_EQ(escaped("\xC3"), "\uFFFD") << "cut off";
    EXPECT_EQ(escaped("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
    EXPECT_EQ(escaped("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
    EXPECT_EQ(escaped("\xF5\x80\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "past the last letter";
}

}

}
