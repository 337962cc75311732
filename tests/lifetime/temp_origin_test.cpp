// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Containers over Temp that grow inside a scope or outlive their memory, which checked builds report with the cause.

#include <tenure/lifetime/detail/temp_origin.hpp>

#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/lifetime/chunked_list.hpp>
#include <tenure/lifetime/scratch.hpp>

#include "lifetime/fixture.hpp"
#include "support/reports.hpp"

namespace {

using support::with_budget;
using tenure::chunked_list;
using tenure::lifetime;
using tenure::resource_adaptor;
using tenure::temp;
using tenure::temp_scope;
using tenure::temp_stack;
using temp_ints = std::vector<int, tenure::stl_allocator<int, temp>>;

constexpr std::size_t budget = std::size_t{256} * 1024;

bool says(const support::heard_reports& heard, std::string_view words) {
    return heard.last().find(words) != std::string::npos;
}

class temp_origin : public testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
        if (tenure::passthrough_enabled(tenure::part::temp)) GTEST_SKIP() << "malloc serves";
    }
};

TEST_F(temp_origin, a_container_that_outlived_its_scope_is_reported_as_that) {
    with_budget(budget, [] {
        std::optional<temp_ints> late;
        {
            const temp_scope scope;
            late.emplace().push_back(1);
        }
        static_cast<void>(temp::allocate(100)); // where the container's memory was
        const support::heard_reports heard;
        late.reset();
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_TRUE(says(heard, "has outlived the temp_scope in which")) << heard.last();
    });
}

TEST_F(temp_origin, a_container_that_outlived_its_frame_or_a_reset_is_reported_as_that) {
    with_budget(budget, [] {
        std::optional<temp_ints> late;
        late.emplace().push_back(1);
        tenure::next_frame();
        {
            const support::heard_reports heard;
            late.reset();
            EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
            EXPECT_TRUE(says(heard, "has outlived its frame")) << heard.last();
        }
        late.emplace().push_back(1);
        tenure::reset_temp();
        const support::heard_reports heard;
        late.reset();
        EXPECT_EQ(heard.count(tenure::report_kind::misuse), 1u);
        EXPECT_TRUE(says(heard, "has outlived reset_temp()")) << heard.last();
    });
}

TEST_F(temp_origin, a_container_of_the_second_stack_is_reported_too) {
    with_budget(budget, [] {
        using second_vector = std::vector<int, tenure::stl_allocator<int, temp_stack>>;
        std::optional<second_vector> late;
        {
            const tenure::scratch_scope scope;
            late.emplace(temp_stack::second()).push_back(1);
        }
        const support::heard_reports heard;
        late.reset();
        EXPECT_TRUE(says(heard, "has outlived the temp_scope in which")) << heard.last();
    });
}

TEST_F(temp_origin, an_empty_container_may_be_filled_after_its_frame) {
    with_budget(budget, [] {
        const support::heard_reports heard;
        {
            temp_ints numbers;
            tenure::next_frame();
            for (int number = 0; number < 100; ++number) numbers.push_back(number);
        }
        EXPECT_EQ(heard.count(), 0u) << heard.last();
    });
}

TEST_F(temp_origin, a_late_free_without_a_container_names_what_ended_last) {
    with_budget(budget, [] {
        void* gone = nullptr;
        {
            const temp_scope scope;
            gone = temp::allocate(100);
        }
        const support::heard_reports heard;
        temp::deallocate(gone, 100);
        EXPECT_TRUE(says(heard, "A temp_scope ended last on this thread")) << heard.last();
        tenure::next_frame();
        temp::deallocate(gone, 100);
        EXPECT_TRUE(says(heard, "next_frame() emptied Temp last")) << heard.last();
    });
}

TEST_F(temp_origin, a_memory_resource_from_before_the_scope_may_serve_containers_inside_it) {
    with_budget(budget, [] {
        resource_adaptor<temp> resource;
        std::pmr::vector<int> outer(100, &resource);
        const support::heard_reports heard;
        {
            const temp_scope scope;
            std::pmr::vector<int> inner(&resource);
            for (int number = 0; number < 1000; ++number) inner.push_back(number);
            std::pmr::vector<int> zeros(200, 0, &resource);
            outer.clear();
            outer.shrink_to_fit(); // frees a block from before the scope, with the bytes that `zeros` begins with
            const temp_scope innermost;
            std::pmr::string text(&resource);
            for (int number = 0; number < 1000; ++number) text.push_back('x');
        }
        EXPECT_EQ(heard.count(), 0u) << heard.last();
    });
}

// A list that gets its first element inside a scope lives as long as that scope.

TEST_F(temp_origin, a_list_used_after_the_scope_that_filled_it_is_reported_and_ends_the_program) {
    chunked_list<int> list(lifetime::temp);
    EXPECT_DEATH(
        {
            {
                const temp_scope scope;
                for (int number = 0; number < 5000; ++number) static_cast<void>(list.emplace_back(number));
            }
            static_cast<void>(list.emplace_back(1));
        },
        "a container over Temp has outlived the temp_scope in which");
    const auto fill = [&] {
        const temp_scope scope;
        static_cast<void>(list.emplace_back(1));
    };
    EXPECT_DEATH((fill(), list[0] = 2), "outlived the temp_scope");
    EXPECT_DEATH((fill(), list.pop_back()), "outlived the temp_scope");
    EXPECT_DEATH((fill(), list.for_each_chunk([](std::span<int>) {})), "outlived the temp_scope");
    EXPECT_DEATH((fill(), static_cast<void>(list.reserve(5000))), "outlived the temp_scope");
}

TEST_F(temp_origin, a_list_used_after_its_frame_is_reported) {
    chunked_list<int> list(lifetime::temp);
    EXPECT_DEATH((static_cast<void>(list.emplace_back(1)), tenure::next_frame(), list[0] = 2), "outlived its frame");
    EXPECT_DEATH((static_cast<void>(list.emplace_back(1)), tenure::reset_temp(), list[0] = 2), "outlived reset_temp");
}

TEST_F(temp_origin, a_list_may_be_filled_anew_in_each_scope_after_a_reset) {
    with_budget(budget, [] {
        const support::heard_reports heard;
        chunked_list<int> list(lifetime::temp);
        for (int round = 0; round < 3; ++round) {
            const temp_scope scope;
            for (int number = 0; number < 5000; ++number) ASSERT_NE(list.emplace_back(number), nullptr);
            ASSERT_EQ(list[4999], 4999);
            const temp_scope inner; // and read inside another
            ASSERT_EQ(list.back(), 4999);
            list.reset();
        }
        EXPECT_EQ(heard.count(), 0u) << heard.last();
    });
}

TEST_F(temp_origin, a_list_may_be_read_by_another_thread_and_inside_any_number_of_scopes) {
    with_budget(budget, [] {
        const support::heard_reports heard;
        std::vector<std::optional<temp_scope>> scopes(100);
        for (auto& each : scopes) each.emplace();
        chunked_list<int> list(lifetime::temp);
        static_cast<void>(list.emplace_back(7));
        support::on_fresh_thread([&] {
            const temp_scope scope;
            EXPECT_EQ(list[0], 7);
        });
        while (!scopes.empty()) scopes.pop_back();
        EXPECT_EQ(heard.count(), 0u) << heard.last();
    });
}

}
