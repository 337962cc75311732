// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/scratch.hpp>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/lifetime/chunked_list.hpp>

#include "lifetime/fixture.hpp"
#include "support/ledger.hpp"
#include "support/reports.hpp"

namespace {

using support::with_budget;
using tenure::scratch_scope;
using tenure::temp;
using tenure::temp_scope;
using tenure::temp_stack;

template<class T>
using temp_vector = std::vector<T, tenure::stl_allocator<T, temp_stack>>;

TEST(scratch, the_stack_is_the_one_that_the_results_are_not_on) {
    with_budget(64 * 1024, [] {
        const scratch_scope outer;
        EXPECT_EQ(&outer.stack(), &temp_stack::second());
        const scratch_scope inner(outer.stack());
        EXPECT_EQ(&inner.stack(), &temp_stack::first());
        const scratch_scope innermost(inner.stack());
        EXPECT_EQ(&innermost.stack(), &temp_stack::second());
        EXPECT_EQ(&temp_stack::first().other(), &temp_stack::second());
    });
}

TEST(scratch, the_first_stack_is_temp) {
    with_budget(64 * 1024, [] {
        void* const block = temp_stack::first().allocate(100);
        EXPECT_TRUE(temp::owns(block));
        temp_stack::first().deallocate(block, 100);
        EXPECT_EQ(temp::allocate(100), block);
    });
}

TEST(scratch, a_scope_frees_its_stack_and_leaves_the_other) {
    with_budget(64 * 1024, [] {
        void* const kept = temp::allocate(100);
        void* in_scope = nullptr;
        {
            const scratch_scope scratch;
            in_scope = scratch.allocate(100);
            EXPECT_FALSE(temp::owns(in_scope));
            EXPECT_TRUE(temp_stack::second().owns(in_scope));
            EXPECT_FALSE(temp_stack::second().owns(kept));
            std::memset(temp::allocate(100), 1, 100);
        }
        EXPECT_EQ(temp::stats().used_bytes, 224 + 2 * temp::guard_bytes);
        EXPECT_EQ(temp_stack::second().stats().used_bytes, 0u);
        EXPECT_EQ(temp_stack::second().allocate(100), in_scope);
        EXPECT_TRUE(temp_stack::second().valid());
        EXPECT_TRUE(temp::valid());
    });
}

TEST(scratch, a_vector_of_the_results_grows_inside_the_scope_of_a_callee) {
    with_budget(64 * 1024, [] {
        const temp_scope scope;
        temp_vector<int> results(temp_stack::first());
        const auto callee = [](temp_vector<int>& into, temp_stack& stack) {
            const scratch_scope scratch(stack);
            temp_vector<int> mine(scratch.stack());
            for (int index = 0; index < 2000; ++index) {
                mine.push_back(index);
                into.push_back(mine.back());
            }
        };
        callee(results, temp_stack::first());
        callee(results, temp_stack::first());
        for (int index = 0; index < 4000; ++index) ASSERT_EQ(results[static_cast<std::size_t>(index)], index % 2000);
    });
}

TEST(scratch, the_second_stack_overflows_and_returns_its_chunks) {
    with_budget(4096, [] {
        support::ledger ledger;
        {
            const scratch_scope scratch;
            for (std::size_t bytes : {1u, 4000u, 5000u, 100'000u, 0u})
                for (std::size_t alignment = 1; alignment <= 4096; alignment *= 8)
                    ASSERT_EQ(
                        ledger.add(static_cast<unsigned char*>(scratch.allocate(bytes, alignment)), bytes, alignment),
                        "");
            EXPECT_EQ(ledger.check_all(), "");
            EXPECT_GT(temp_stack::second().stats().overflow_count, 0u);
            EXPECT_EQ(temp::stats().overflow_count, 0u);
        }
        EXPECT_EQ(temp_stack::second().stats().used_bytes, 0u);
        EXPECT_TRUE(temp_stack::second().valid());
    });
}

TEST(scratch, frees_in_reverse_order_rewind_also_out_of_a_chunk) {
    with_budget(4096, [] {
        temp_stack& stack = temp_stack::second();
        void* const first = stack.allocate(4000);
        void* const second = stack.allocate(4000);
        stack.deallocate(second, 4000);
        stack.deallocate(first, 4000);
        EXPECT_EQ(stack.stats().used_bytes, 0u);
        EXPECT_EQ(stack.allocate(100), first);
    });
}

TEST(scratch, a_reset_empties_both_stacks) {
    with_budget(4096, [] {
        EXPECT_NE(temp_stack::second().allocate(100), nullptr);
        EXPECT_NE(temp_stack::second().allocate(10'000), nullptr);
        EXPECT_NE(temp::allocate(100), nullptr);
        tenure::reset_temp();
        EXPECT_EQ(temp_stack::second().stats().used_bytes, 0u);
        EXPECT_EQ(temp::stats().used_bytes, 0u);
    });
}

TEST(scratch, impossible_requests_are_refused_and_change_nothing) {
    with_budget(4096, [] {
        temp_stack& stack = temp_stack::second();
        void* const first = stack.allocate(1);
        EXPECT_EQ(stack.allocate(SIZE_MAX), nullptr);
        EXPECT_EQ(stack.allocate(PTRDIFF_MAX), nullptr);
        EXPECT_EQ(stack.allocate(1, std::size_t{1} << 63), nullptr);
        EXPECT_EQ(stack.allocate(1), static_cast<unsigned char*>(first) + 16 + temp::guard_bytes);
    });
}

TEST(scratch, both_stacks_count_for_the_tag) {
    with_budget(64 * 1024, [] {
        const tenure::tag owner = tenure::tag::named("scratch of both stacks");
        {
            const tenure::tag_scope tagged(owner);
            static_cast<void>(temp_stack::second().allocate(160));
            static_cast<void>(temp::allocate(320));
        }
        static_cast<void>(temp_stack::second().allocate(16));
        EXPECT_EQ(tenure::usage_of(owner).temp_bytes, 480 + 2 * temp::guard_bytes);
    });
}

void append(std::vector<int, tenure::stl_allocator<int, temp>>& into) {
    const temp_scope scope;
    for (int index = 0; index < 100; ++index) into.push_back(index);
}

TEST(scratch, growth_of_an_outer_container_inside_a_scope_is_reported) {
    if constexpr (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    with_budget(64 * 1024, [] {
        const support::heard_reports heard;
        {
            std::vector<int, tenure::stl_allocator<int, temp>> results;
            append(results);
            EXPECT_GT(heard.count(tenure::report_kind::misuse), 0u);
            EXPECT_NE(heard.last().find("scratch_scope"), std::string::npos) << heard.last();
        }
        const std::size_t before = heard.count();
        temp_vector<int> on_second(temp_stack::second());
        {
            const scratch_scope wrong; // should have been told where the results are
            on_second.reserve(1);
            EXPECT_EQ(heard.count(), before + 1);
            on_second.shrink_to_fit();
            on_second = temp_vector<int>(temp_stack::second());
        }
        tenure::chunked_list<int> list(tenure::lifetime::temp);
        static_cast<void>(list.reserve(1));
        const std::size_t in_list = heard.count();
        {
            const temp_scope scope;
            for (int index = 0; index < 2000; ++index) static_cast<void>(list.emplace_back(index));
        }
        EXPECT_EQ(heard.count(), in_list + 1);
    });
}

TEST(scratch, correct_growth_is_not_reported) {
    with_budget(64 * 1024, [] {
        const support::heard_reports heard;
        std::vector<int, tenure::stl_allocator<int, temp>> reserved;
        reserved.reserve(100);
        append(reserved);
        const temp_scope scope;
        auto copy = reserved; // a copy belongs to this scope
        copy.push_back(1);
        temp_vector<int> results(temp_stack::first());
        {
            const scratch_scope scratch(temp_stack::first());
            results.push_back(1);
            temp_vector<int> inner(scratch.stack());
            inner.push_back(1);
        }
        tenure::chunked_list<int> persistent(tenure::lifetime::persistent);
        static_cast<void>(persistent.reserve(1));
        tenure::chunked_list<int> late(tenure::lifetime::temp); // is not used after the scope that fills it
        {
            const temp_scope inner;
            for (int index = 0; index < 2000; ++index) {
                static_cast<void>(persistent.emplace_back(index));
                static_cast<void>(late.emplace_back(index));
            }
        }
        EXPECT_EQ(heard.count(), 0u);
    });
}

}
