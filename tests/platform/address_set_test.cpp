// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/address_set.hpp>

#include <memory>
#include <set>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

#include "support/random.hpp"

namespace {

using tenure::pointer_at;
using tenure::platform::address_set;

// One for all tests: it never gives its leaves back.
constinit address_set addresses{};

TEST(address_set, answers_as_a_set_of_pieces_would) {
    constexpr std::uintptr_t piece = address_set::piece_bytes;
    support::random numbers(support::new_seed());
    std::set<std::uintptr_t> model;
    auto const anywhere = [&] {
        // Some far apart, most in the same few leaves and words.
        std::uintptr_t const far = numbers.below(5) << 40;
        return (far + numbers.below(3000) * piece + numbers.below(piece)) & ((std::uintptr_t{1} << 47) - 1);
    };
    for (int step = 0; step < 20'000; ++step) {
        std::uintptr_t const at = anywhere();
        switch (numbers.below(3)) {
        case 0:
            ASSERT_TRUE(addresses.insert(pointer_at(at)));
            model.insert(at / piece);
            break;
        case 1:
            addresses.erase(pointer_at(at));
            model.erase(at / piece);
            break;
        default: ASSERT_EQ(addresses.contains(pointer_at(at)), model.count(at / piece) != 0) << at;
        }
    }
    for (std::uintptr_t const each : model) addresses.erase(pointer_at(each * piece));
}

TEST(address_set, knows_the_last_piece_and_refuses_what_lies_past_it) {
    std::uintptr_t const end = std::uintptr_t{1} << 47;
    EXPECT_TRUE(addresses.insert(pointer_at(end - 1)));
    EXPECT_TRUE(addresses.contains(pointer_at(end - address_set::piece_bytes)));
    EXPECT_FALSE(addresses.contains(pointer_at(end - address_set::piece_bytes - 1)));
    addresses.erase(pointer_at(end - 1));
    EXPECT_FALSE(addresses.contains(pointer_at(end - 1)));
    for (std::uintptr_t const past : {end, ~std::uintptr_t{0}}) {
        EXPECT_FALSE(addresses.insert(pointer_at(past)));
        addresses.erase(pointer_at(past));
        EXPECT_FALSE(addresses.contains(pointer_at(past)));
    }
    EXPECT_FALSE(addresses.contains(nullptr));
}

}
