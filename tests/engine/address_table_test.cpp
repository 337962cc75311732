// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/address_table.hpp>

#include <map>

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace {

struct entry {
    std::uintptr_t key;
    std::size_t value;
};
using table = tenure::detail::address_table<entry>;

TEST(address_table, is_empty_at_first) {
    table empty;
    EXPECT_EQ(empty.size(), 0u);
    EXPECT_EQ(empty.find(16), nullptr);
    EXPECT_FALSE(empty.erase(16));
    empty.for_each([](const entry&) { ADD_FAILURE(); });
}

TEST(address_table, replaces_the_entry_of_a_key) {
    table known;
    EXPECT_TRUE(known.put({16, 1}));
    EXPECT_TRUE(known.put({16, 2}));
    EXPECT_EQ(known.size(), 1u);
    ASSERT_NE(known.find(16), nullptr);
    EXPECT_EQ(known.find(16)->value, 2u);
}

TEST(address_table, has_no_entry_of_the_address_zero) {
    table known;
    EXPECT_TRUE(known.put({16, 1}));
    EXPECT_EQ(known.find(0), nullptr);
    EXPECT_FALSE(known.erase(0));
    EXPECT_EQ(known.size(), 1u);
}

TEST(address_table, does_what_a_map_does) {
    table known;
    std::map<std::uintptr_t, std::size_t> model;
    const std::uint64_t seed = support::new_seed();
    SCOPED_TRACE(seed);
    support::random random(seed);
    for (std::size_t step = 0; step < 200'000; ++step) {
        // Few enough that most operations meet an entry, and near each other as blocks are.
        const std::uintptr_t key = 0x7F00'0000'0000 + (random.below(3000) + 1) * 48;
        if (random.below(5) < 3) {
            ASSERT_TRUE(known.put({key, step}));
            model[key] = step;
        } else {
            ASSERT_EQ(known.erase(key), model.erase(key) == 1);
        }
        ASSERT_EQ(known.size(), model.size());
    }
    for (std::uintptr_t number = 1; number <= 3000; ++number) {
        const std::uintptr_t key = 0x7F00'0000'0000 + number * 48;
        const entry* const found = known.find(key);
        const auto wanted = model.find(key);
        ASSERT_EQ(found != nullptr, wanted != model.end()) << key;
        if (found != nullptr) {
            ASSERT_EQ(found->value, wanted->second);
        }
    }
    std::size_t visited = 0;
    known.for_each([&](const entry& each) { visited += model.at(each.key) == each.value ? 1u : 0u; });
    EXPECT_EQ(visited, model.size());
}

}
