// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/base/config.hpp>
#include <tenure/tenure_engine.h>

#include "capi/fixture.hpp"
#include "support/reports.hpp"

namespace {

using capi::is_zero;

struct entity {
    std::uint64_t id;
    float x, y;
    std::uint32_t parent;
};

TEST(capi_stable_vector, it_does_what_a_vector_does_and_never_moves) {
    tn_stable_vector* const vector = tn_stable_vector_create(sizeof(entity), alignof(entity), 300'000);
    ASSERT_NE(vector, nullptr);
    EXPECT_EQ(tn_stable_vector_data(vector), nullptr);
    std::vector<std::uint64_t> model;
    std::uint64_t state = 7, next = 1;
    const void* begin = nullptr;
    for (int step = 0; step < 5000; ++step) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::size_t count = (state >> 33) % 60;
        if ((state >> 60) < 12) {
            auto* const first = static_cast<entity*>(tn_stable_vector_append(vector, count));
            ASSERT_NE(first, nullptr);
            ASSERT_TRUE(is_zero(first, count * sizeof(entity))) << "also where elements were before";
            for (std::size_t each = 0; each < count; ++each) model.push_back(first[each].id = next++);
        } else {
            for (std::size_t each = 0; each < count && !model.empty(); ++each, model.pop_back())
                ASSERT_EQ(tn_stable_vector_pop_back(vector), TN_OK);
        }
        if (step == 4000) {
            EXPECT_GT(tn_stable_vector_trim(vector), 0u);
        }
        if (step == 2000) {
            tn_stable_vector_clear(vector);
            model.clear();
        }
        const auto* const data = static_cast<const entity*>(tn_stable_vector_data(vector));
        if (begin == nullptr) begin = data;
        ASSERT_EQ(data, begin);
        ASSERT_EQ(tn_stable_vector_size(vector), model.size());
        ASSERT_GE(tn_stable_vector_capacity(vector), model.size());
    }
    ASSERT_GT(model.size(), 5000u);
    for (std::size_t each = 0; each < model.size(); ++each)
        ASSERT_EQ(static_cast<const entity*>(tn_stable_vector_at(vector, each))->id, model[each]);
    EXPECT_EQ(tn_stable_vector_at(vector, model.size()), nullptr);
    EXPECT_EQ(tn_stable_vector_at(vector, SIZE_MAX), nullptr);
    tn_stable_vector_destroy(vector);
    tn_stable_vector_destroy(nullptr);
}

TEST(capi_stable_vector, it_is_full_at_its_maximum_and_unchanged) {
    tn_stable_vector* const vector = tn_stable_vector_create(4, 4, 10);
    ASSERT_NE(tn_stable_vector_append(vector, 9), nullptr);
    EXPECT_EQ(tn_stable_vector_append(vector, 2), nullptr);
    EXPECT_EQ(tn_stable_vector_append(vector, SIZE_MAX), nullptr);
    EXPECT_EQ(tn_stable_vector_size(vector), 9u);
    ASSERT_NE(tn_stable_vector_append(vector, 1), nullptr);
    EXPECT_EQ(tn_stable_vector_append(vector, 1), nullptr);
    EXPECT_EQ(tn_stable_vector_capacity(vector), 10u);
    EXPECT_EQ(tn_stable_vector_reserve(vector, 10), TN_OK);
    EXPECT_EQ(tn_stable_vector_reserve(vector, 11), TN_INVALID_ARGUMENT);
    EXPECT_NE(tn_stable_vector_append(vector, 0), nullptr) << "the end";
    tn_stable_vector_destroy(vector);
}

TEST(capi_stable_vector, memory_can_be_committed_before) {
    tn_stable_vector* const vector = tn_stable_vector_create(1 << 10, 1 << 16, std::size_t{1} << 20);
    ASSERT_EQ(tn_stable_vector_reserve(vector, 5000), TN_OK);
    EXPECT_GE(tn_stable_vector_capacity(vector), 5000u);
    EXPECT_EQ(tn_stable_vector_size(vector), 0u);
    EXPECT_EQ(tenure::address_of(tn_stable_vector_data(vector)) % (1 << 16), 0u);
    EXPECT_EQ(tn_stable_vector_append(vector, 1), tn_stable_vector_data(vector));
    tn_stable_vector_destroy(vector);
    tn_stable_vector* const impossible = tn_stable_vector_create(1, 1, SIZE_MAX / 2 - 4096);
    if (impossible == nullptr) return;
    EXPECT_EQ(tn_stable_vector_append(impossible, 1), nullptr);
    EXPECT_EQ(tn_stable_vector_reserve(impossible, 1), TN_OUT_OF_MEMORY);
    EXPECT_EQ(tn_stable_vector_size(impossible), 0u);
    tn_stable_vector_destroy(impossible);
}

TEST(capi_stable_vector, what_would_refuse_everything_is_not_made) {
    const support::heard_reports heard;
    EXPECT_EQ(tn_stable_vector_create(0, 8, 10), nullptr);
    EXPECT_EQ(tn_stable_vector_create(8, 24, 10), nullptr);
    EXPECT_EQ(tn_stable_vector_create(8, 8, 0), nullptr);
    EXPECT_EQ(tn_stable_vector_create(8, 8, SIZE_MAX / 4), nullptr);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 4u : 0u) << heard.last();
    tn_stable_vector* const vector = tn_stable_vector_create(8, 8, 10);
    EXPECT_EQ(tn_stable_vector_pop_back(vector), TN_INVALID_ARGUMENT);
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), tenure::checks::caller ? 5u : 0u) << heard.last();
    tn_stable_vector_destroy(vector);
}

}
