// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/address_map.hpp>

#include <map>
#include <memory>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>

#include "support/random.hpp"

namespace {

using tenure::pointer_at;
using tenure::platform::address_map;

// One for all tests: it never gives its leaves back.
constinit address_map addresses{};

TEST(address_map, answers_as_a_map_of_pieces_would) {
    constexpr std::uintptr_t piece = address_map::piece_bytes;
    support::random numbers(support::new_seed());
    std::map<std::uintptr_t, void*> model;
    int owners[3];
    const auto anywhere = [&] {
        // Some far apart, most in the same few leaves and words.
        const std::uintptr_t far = numbers.below(5) << 40;
        return (far + numbers.below(3000) * piece + numbers.below(piece)) & ((std::uintptr_t{1} << 47) - 1);
    };
    for (int step = 0; step < 20'000; ++step) {
        const std::uintptr_t at = anywhere();
        switch (numbers.below(3)) {
        case 0:
            model[at / piece] = &owners[numbers.below(3)];
            ASSERT_TRUE(addresses.set(pointer_at(at), model[at / piece]));
            break;
        case 1:
            addresses.erase(pointer_at(at));
            model.erase(at / piece);
            break;
        default:
            const auto found = model.find(at / piece);
            ASSERT_EQ(addresses.get(pointer_at(at)), found != model.end() ? found->second : nullptr) << at;
            ASSERT_EQ(addresses.contains(pointer_at(at)), found != model.end());
        }
    }
    for (const auto& [each, owner] : model) addresses.erase(pointer_at(each * piece));
}

TEST(address_map, knows_the_last_piece_and_refuses_what_lies_past_it) {
    const std::uintptr_t end = std::uintptr_t{1} << tenure::platform::user_address_bits;
    EXPECT_TRUE(addresses.set(pointer_at(end - 1), &addresses));
    EXPECT_TRUE(addresses.contains(pointer_at(end - address_map::piece_bytes)));
    EXPECT_FALSE(addresses.contains(pointer_at(end - address_map::piece_bytes - 1)));
    addresses.erase(pointer_at(end - 1));
    EXPECT_FALSE(addresses.contains(pointer_at(end - 1)));
    for (const std::uintptr_t past : {end, ~std::uintptr_t{0}}) {
        EXPECT_FALSE(addresses.set(pointer_at(past), &addresses));
        addresses.erase(pointer_at(past));
        EXPECT_FALSE(addresses.contains(pointer_at(past)));
    }
    EXPECT_FALSE(addresses.contains(nullptr));
}

}
