// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What a report says in all its forms.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "observe/replay/report/advice_words.hpp"
#include "observe/replay/report/advise_html.hpp"
#include "observe/replay/report/advise_json.hpp"
#include "observe/replay/report/advise_text.hpp"

namespace {

using namespace tenure::lab;

constexpr advice_kind with_lines[] = {advice_kind::temp, advice_kind::temp_job, advice_kind::pool,
                                      advice_kind::shared_pool, advice_kind::arena};

lifetime_advice advice_of(advice_kind kind) {
    lifetime_advice made;
    made.kind = kind;
    made.room_bytes = 48;
    return made;
}

TEST(advice_words, lines_ask_for_the_alignment_that_the_blocks_have) {
    for (const advice_kind kind : with_lines) {
        for (const std::uint64_t smallest : {std::uint64_t{40}, std::uint64_t{48}}) {
            block_group group;
            group.smallest = smallest;
            group.largest = 48;
            lifetime_advice advice = advice_of(kind);
            const code_lines usual = lines_for(group, advice);
            advice.alignment_log2 = 6;
            const code_lines aligned = lines_for(group, advice);
            EXPECT_EQ(usual.cpp.find("64"), std::string::npos) << usual.cpp;
            EXPECT_NE(aligned.cpp.find("64"), std::string::npos) << aligned.cpp;
            EXPECT_NE(aligned.csharp.find(", 64)"), std::string::npos) << aligned.csharp;
        }
    }
}

TEST(advice_words, lines_for_blocks_of_calloc_clear_them) {
    for (const advice_kind kind : with_lines) {
        block_group group;
        group.smallest = 40;
        group.largest = 48;
        const code_lines usual = lines_for(group, advice_of(kind));
        group.zeroed = 1;
        const code_lines cleared = lines_for(group, advice_of(kind));
        EXPECT_EQ(usual.cpp.find("memset") == std::string::npos && usual.cpp.find("clear the") == std::string::npos,
                  true)
            << usual.cpp;
        EXPECT_EQ(cleared.cpp.find("memset") != std::string::npos || cleared.cpp.find("clear the") != std::string::npos,
                  true)
            << cleared.cpp;
        EXPECT_EQ(cleared.csharp.find("Zeroed") != std::string::npos ||
                      cleared.csharp.find("clear the") != std::string::npos,
                  true)
            << cleared.csharp;
    }
}

TEST(advice_words, names_of_call_sites_are_wrapped) {
    advice_report report;
    block_group group;
    group.stack = 1;
    group.depth = 2;
    group.blocks = {1, 2, 3};
    group.smallest = group.largest = group.most_common = 48;
    group.same_thread_share = 0.0004;
    advised_group one;
    one.group = std::make_shared<const block_group>(group);
    report.groups.push_back(one);
    std::string name = "first(";
    for (int argument = 0; argument < 40; ++argument) name += "a_type, ";
    name += "last)";
    const place_names names = [&](std::uint32_t) { return std::vector<std::string>{name, "caller, " + name}; };
    const std::string text = to_text(report, names, {.width = 60});
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 60U) << text.substr(begin, end - begin);
        begin = end + 1;
    }
    EXPECT_NE(text.find("1. first("), std::string::npos);
    EXPECT_NE(text.find("     caller, first("), std::string::npos);
    EXPECT_NE(text.find("allocating thread < 0.1 %"), std::string::npos) << text;
}

TEST(advice_words, every_form_says_what_is_not_shown_and_how_it_was_measured) {
    advice_report report;
    report.base = "glibc malloc";
    report.damage = "a chunk is cut short.";
    report.unknown_frees = 17;
    report.other_groups = 3;
    report.small_groups = 29;
    report.has_together = true;
    report.together.error = "two scopes of Temp do not nest";
    report.replay.seed = 424242;
    report.repeats = 7;
    report.comparisons = 5;
    const place_names names = [](std::uint32_t) { return std::vector<std::string>{}; };
    const std::string text = to_text(report, names, {.width = 1000}), html = to_html(report, names, "a.trace"),
                      json = to_json(report, names);
    for (const char* const words :
         {"a chunk is cut short.", "17 frees", "3 more groups", "29 groups", "two scopes of Temp do not nest",
          "no frames", "--touch ends", "--seed 424242", "7 in a process", "Comparisons: 5", "glibc malloc"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
        EXPECT_NE(html.find(words), std::string::npos) << words << "\n" << html;
    }
    for (const char* const words : {"a chunk is cut short.", "\"unknown_frees\": 17", "424242", "two scopes of Temp"})
        EXPECT_NE(json.find(words), std::string::npos) << words << "\n" << json;
    report.unknown_frees = report.other_groups = report.small_groups = report.blocks = report.events = 1;
    report.other_blocks = report.small_blocks = report.threads = 1;
    const std::string single = to_text(report, names, {.width = 1000});
    for (const char* const words :
         {"1 free of", "1 more group with 1 block.", "1 group with 1 block.", "1 allocation, ", "1 thread, 1 event\n"})
        EXPECT_NE(single.find(words), std::string::npos) << words << "\n" << single;
    report.comparisons = 0;
    EXPECT_NE(to_text(report, names, {.width = 1000}).find("Nothing was replayed"), std::string::npos);
}

}
