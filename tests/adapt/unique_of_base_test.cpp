// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Unique pointers to objects that may be of a derived class, over Temp and TempJob.

#include <string>

#include <gtest/gtest.h>

#include <tenure/adapt/unique.hpp>
#include <tenure/lifetime/lifetime.hpp>

#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using tenure::make_unique_in;
using tenure::unique;

struct shape {
    virtual ~shape() { ++destroyed; }
    static inline int destroyed = 0;
    int numbers[10] = {};
};
struct same_size : shape {};
struct large : shape {
    int more[1000] = {};
};

template<class Object>
std::size_t left_of_temp_after(int count) {
    std::size_t left = 0;
    support::on_fresh_thread([&] {
        const std::size_t before = tenure::temp::stats().used_bytes;
        for (int each = 0; each < count; ++each) {
            const unique<shape, tenure::temp> one = make_unique_in<Object>(tenure::temp{});
            EXPECT_NE(one, nullptr);
        }
        EXPECT_TRUE(tenure::temp::valid());
        left = tenure::temp::stats().used_bytes - before;
    });
    return left;
}

TEST(unique_of_a_base, temp_rewinds_behind_an_object_of_the_class_itself) {
    const support::heard_reports heard;
    shape::destroyed = 0;
    EXPECT_EQ(left_of_temp_after<shape>(100), 0u);
    EXPECT_EQ(left_of_temp_after<same_size>(100), 0u);
    EXPECT_EQ(shape::destroyed, 200);
    EXPECT_EQ(heard.count(), 0u);
}

TEST(unique_of_a_base, temp_frees_no_more_than_a_larger_object_of_a_derived_class) {
    const support::heard_reports heard;
    const std::size_t left = left_of_temp_after<large>(10);
    if constexpr (tenure::checks::caller)
        EXPECT_EQ(left, 0u) << "the size is known";
    else
        EXPECT_GE(left, 10 * sizeof(large));
    support::on_fresh_thread([] {
        unique<shape, tenure::temp> first = make_unique_in<large>(tenure::temp{});
        int* const second = tenure::temp::make<int>(7);
        first.reset();
        static_cast<void>(tenure::temp::make<int>(8));
        EXPECT_EQ(*second, 7);
    });
    EXPECT_EQ(heard.count(), 0u);
}

TEST(unique_of_a_base, destroy_with_a_lifetime_rewinds_as_well) {
    support::on_fresh_thread([] {
        const std::size_t before = tenure::temp::stats().used_bytes;
        for (int each = 0; each < 100; ++each)
            tenure::destroy(tenure::make<shape>(tenure::lifetime::temp), tenure::lifetime::temp);
        EXPECT_EQ(tenure::temp::stats().used_bytes, before);
    });
}

TEST(unique_of_a_base, checked_builds_report_a_block_that_is_too_small_for_the_object) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    const support::heard_reports heard;
    {
        const unique<shape, tenure::temp_job> derived = make_unique_in<large>(tenure::temp_job{});
        const unique<shape, tenure::temp_job> plain = make_unique_in<shape>(tenure::temp_job{});
    }
    EXPECT_EQ(heard.count(), 0u);
    void* const block = tenure::temp_job::allocate(sizeof(shape) / 2);
    tenure::temp_job::deallocate_at_least(block, sizeof(shape));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
    EXPECT_NE(heard.last().find("was freed as one of"), std::string::npos) << heard.last();
    tenure::temp_job::deallocate(block);
    void* const scratch = tenure::temp::allocate(sizeof(shape) / 2);
    tenure::temp::deallocate_at_least(scratch, sizeof(shape));
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 2u);
    tenure::temp::deallocate(scratch, sizeof(shape) / 2);
    EXPECT_EQ(heard.count(), 2u);
}

}
