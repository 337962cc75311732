// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/arguments/part_choice.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bench/harness/schedule.hpp"

namespace {

using namespace tenure::lab;

constexpr std::array<part, 5> parts{{{"all, 8 B"}, {"all, 64 B"}, {"overflow"}, {"overflow, small"}, {"drop, 64 B"}}};
constexpr std::array<part, 2> others{{{"one thread"}, {"drop it"}}};

experiment with_parts(std::span<const part> some) {
    experiment made{};
    made.parts = some;
    return made;
}

std::uint64_t chosen(std::vector<std::string> words) { return part_choice(std::move(words)).of(with_parts(parts)); }

TEST(part_choice, without_words_all_are_meant) {
    part_choice all({});
    EXPECT_EQ(all.of(with_parts(parts)), run_all_parts);
    EXPECT_EQ(all.refusal(), "");
}

TEST(part_choice, a_name_means_its_part) {
    EXPECT_EQ(chosen({"all, 64 B"}), 0b00010u);
    EXPECT_EQ(chosen({"ALL, 64 b"}), 0b00010u) << "in letters of either case";
}

TEST(part_choice, a_piece_means_every_part_that_has_it) {
    EXPECT_EQ(chosen({"64 B"}), 0b10010u);
    EXPECT_EQ(chosen({"all,"}), 0b00011u);
    EXPECT_EQ(chosen({"all"}), 0b01011u) << "in the middle of a word as well: small";
    EXPECT_EQ(chosen({"over"}), 0b01100u);
}

TEST(part_choice, a_whole_name_comes_before_a_piece_of_another) { EXPECT_EQ(chosen({"overflow"}), 0b00100u); }

TEST(part_choice, several_words_mean_all_that_each_means) { EXPECT_EQ(chosen({"all, 8 B", "drop"}), 0b10001u); }

TEST(part_choice, an_unknown_word_is_answered_with_the_nearest_and_the_list) {
    part_choice what({"drop", "al, 64 B"});
    EXPECT_EQ(what.of(with_parts(parts)), 0b10000u);
    EXPECT_EQ(what.refusal(), "there is no part \"al, 64 B\". Did you mean \"all, 64 B\"? There are: \"all, 8 B\", "
                              "\"all, 64 B\", \"overflow\", \"overflow, small\", \"drop, 64 B\".");
}

TEST(part_choice, an_empty_word_means_nothing) {
    part_choice what({""});
    EXPECT_EQ(what.of(with_parts(parts)), 0u);
    EXPECT_NE(what.refusal(), "");
}

TEST(part_choice, a_word_need_only_mean_a_part_of_one_experiment) {
    part_choice what({"thread"});
    EXPECT_EQ(what.of(with_parts(parts)), 0u);
    EXPECT_EQ(what.of(with_parts(others)), 0b01u);
    EXPECT_EQ(what.refusal(), "");
    part_choice drop({"drop"});
    EXPECT_EQ(drop.of(with_parts(parts)), 0b10000u);
    EXPECT_EQ(drop.of(with_parts(others)), 0b10u);
}

}
