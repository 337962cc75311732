// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_html.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "report/page_check.hpp"
#include "watch/checks.hpp"
#include "watch/sample_findings.hpp"

namespace tenure::lab {

namespace {

/// The page without its style sheet, whose changes are looked at in a browser.
std::string body_of(const std::string& page) {
    const std::size_t begin = page.find("<style>") + 7;
    return page.substr(0, begin) + "…" + page.substr(page.find("</style>"));
}

TEST(watch_html, the_page_is_as_it_was) {
    expect_watch_snapshot("watch.html", body_of(to_html(sample::two_regions())));
}

TEST(watch_html, pages_are_well_formed_and_every_reference_leads_somewhere) {
    EXPECT_EQ(page_faults(to_html(sample::two_regions())), "");
    EXPECT_EQ(page_faults(to_html(sample::with_waits(1000))), "");
    EXPECT_EQ(page_faults(to_html(findings{})), "");
}

TEST(watch_html, without_a_region_it_says_why) {
    EXPECT_TRUE(holds(to_html(findings{}), "No parallel region was seen"));
    findings found;
    found.regions.emplace_back();
    EXPECT_EQ(page_faults(to_html(found)), "");
}

TEST(watch_html, the_page_needs_no_network_and_no_script) {
    const std::string page = to_html(sample::two_regions());
    for (const std::string_view words :
         {"http:", "https:", "src=", "@import", "<script", "<link", "javascript:", "url(//"}) {
        EXPECT_FALSE(holds(page, words)) << words;
    }
    EXPECT_EQ(count_of(page, "url("), count_of(page, "url(#")) << "only patterns of the page itself";
    EXPECT_TRUE(holds(page, "default-src 'none'; style-src 'unsafe-inline'"));
}

TEST(watch_html, whatever_the_findings_hold_is_text) {
    const std::string page = to_html(sample::of_text("</script><img src=x onerror=\"alert('1')\">&amp;\x01\xFF"));
    EXPECT_FALSE(holds(page, "<img"));
    EXPECT_FALSE(holds(page, "onerror=\""));
    EXPECT_FALSE(holds(page, "\x01"));
    EXPECT_FALSE(holds(page, "\xFF"));
    EXPECT_EQ(page_faults(page), "");
}

TEST(watch_html, sixty_thousand_waits_make_a_page_of_two_megabytes_at_most) {
    const std::string page = to_html(sample::with_waits(60'000));
    EXPECT_LT(page.size(), 2'000'000U);
    EXPECT_GT(page.size(), 200'000U) << "and yet they are drawn";
    EXPECT_EQ(page_faults(page), "");
}

TEST(watch_html, many_regions_and_places_make_no_page_without_end) {
    findings found = sample::with_waits(20'000);
    watched_region& first = found.regions[0];
    first.sites.resize(120, sample::lock_site());
    for (watched_site& each : first.sites)
        each.stack.resize(60, sample::frame(std::string(400, 'f'), "/src/long.cpp", 1));
    found.regions.resize(12, first);
    found.regions.resize(300, sample::region());
    found.processes.resize(1000, sample::process());
    const std::string page = to_html(found);
    EXPECT_LT(page.size(), 3'500'000U);
    EXPECT_EQ(page_faults(page), "");
}

TEST(watch_html, the_ten_worst_places_are_open_and_the_rest_is_folded) {
    findings found = sample::two_regions();
    EXPECT_FALSE(holds(to_html(found), "more</summary>"));
    found.regions[0].sites.resize(25, sample::free_site());
    const std::string page = to_html(found);
    EXPECT_TRUE(holds(page, "<details><summary>15 places more</summary>"));
    EXPECT_LT(page.find("\">#10 free"), page.find("15 places more"));
    EXPECT_GT(page.find("\">#11 free"), page.find("15 places more"));
}

TEST(watch_html, a_wait_has_a_tooltip_with_site_duration_and_place) {
    const std::string page = to_html(sample::two_regions());
    EXPECT_TRUE(
        holds(page, "<title>1.7 ms: #1 waits in pthread_mutex_lock queue_lock, in draw(int) (draw.cpp:41)</title>"));
    EXPECT_TRUE(holds(page, "<title>2 waits, 600 ns, the longest 400 ns: #1 waits in"));
}

TEST(watch_html, the_shortest_wait_is_half_a_pixel_wide) {
    EXPECT_TRUE(holds(to_html(sample::two_regions()), "width=\"0.5\" height=\"7.5\" class=\"t-heap\""));
}

TEST(watch_html, where_waits_are_too_close_a_second_picture_is_closer) {
    findings found = sample::two_regions();
    EXPECT_EQ(count_of(to_html(found), "larger below</text>"), 1U);
    EXPECT_TRUE(holds(to_html(found), "id=\"r1-closer-t\""));
    for (timeline_thread& each : found.regions[0].timeline) each.waits = {{1e6, 2e6, 0}, {2.5e6, 3e6, 1}};
    EXPECT_FALSE(holds(to_html(found), "larger below</text>")) << "each wait can be seen";
}

TEST(watch_html, what_is_not_drawn_is_said) {
    findings found = sample::two_regions();
    EXPECT_TRUE(holds(to_html(found), "12 waits shorter than these: counted in the table, not drawn."));
    found.regions[0].timeline.resize(60, sample::lane(300, "more", 0));
    EXPECT_TRUE(holds(to_html(found), "12 threads that waited less: not drawn."));
}

TEST(watch_html, pictures_have_a_title_and_a_description) {
    const std::string page = to_html(sample::two_regions());
    const std::size_t pictures = count_of(page, "role=\"img\"");
    EXPECT_EQ(pictures, 5U) << "two bars, two timelines, one of them twice";
    EXPECT_EQ(count_of(page, "<desc "), pictures);
    EXPECT_EQ(count_of(page, "<svg"), pictures + count_of(page, "aria-hidden=\"true\""));
}

TEST(watch_html, tables_tell_their_heads_from_their_cells) {
    const std::string page = to_html(sample::two_regions());
    EXPECT_EQ(count_of(page, "<th"), count_of(page, "<th scope=\"") + count_of(page, "<thead"));
    EXPECT_EQ(count_of(page, "<table"), count_of(page, "<caption>"));
}

TEST(watch_html, every_fill_has_a_pattern_and_colours) {
    const std::string page = to_html(sample::two_regions());
    for (std::size_t at = page.find("url(#f-"); at != std::string::npos; at = page.find("url(#f-", at + 1)) {
        const std::string name = page.substr(at + 5, page.find(')', at) - at - 5);
        EXPECT_EQ(count_of(page, "<pattern id=\"" + name + "\""), 1U) << name;
        EXPECT_EQ(count_of(page, " --" + name + ": "), 2U) << name << ", light and dark";
    }
}

TEST(watch_html, extreme_figures_are_drawn_without_overflow) {
    for (const double value :
         {1e300, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        findings found = sample::two_regions();
        watched_region& region = found.regions[0];
        region.time = {value, value, value, value, value, value, value, value, value};
        region.timeline[0].stays = {{0, value}, {value, value}};
        region.timeline[0].waits = {{0, value, 0}, {value, 1, 7}};
        region.sites[0].ns = region.sites[0].wait_ns = region.sites[0].longest_wait_ns = value;
        const std::string page = to_html(found);
        EXPECT_EQ(page_faults(page), "");
        EXPECT_FALSE(holds(page, "=\"nan") || holds(page, "=\"inf") || holds(page, "=\"-nan")) << value;
        EXPECT_LT(page.size(), 200'000U);
    }
}

}

}
