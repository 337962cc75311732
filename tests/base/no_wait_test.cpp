// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/no_wait.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <random>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/tenure.h>

#include "support/reports.hpp"

namespace {

using tenure::allow_alloc_scope;
using tenure::heap;
using tenure::no_alloc_scope;
using tenure::no_wait_scope;

TEST(no_wait, a_promise_holds_to_the_end_of_the_outermost_scope) {
    EXPECT_FALSE(no_wait_scope::is_active());
    {
        const no_wait_scope outer;
        {
            const no_wait_scope inner;
            EXPECT_TRUE(no_wait_scope::is_active());
        }
        EXPECT_TRUE(no_wait_scope::is_active());
        EXPECT_TRUE(no_alloc_scope::is_active()) << "who may not wait may not allocate";
    }
    EXPECT_FALSE(no_wait_scope::is_active());
    EXPECT_FALSE(no_alloc_scope::is_active());
}

TEST(no_wait, a_no_alloc_scope_alone_permits_frees_and_locks) {
    const no_alloc_scope promise;
    EXPECT_FALSE(no_wait_scope::is_active());
    {
        const no_wait_scope stronger;
        EXPECT_TRUE(no_wait_scope::is_active());
    }
    EXPECT_FALSE(no_wait_scope::is_active());
    EXPECT_TRUE(no_alloc_scope::is_active());
}

TEST(no_wait, a_permission_suspends_promises_from_before_and_within) {
    const no_wait_scope promise;
    {
        const allow_alloc_scope permission;
        EXPECT_FALSE(no_wait_scope::is_active());
        const no_wait_scope within;
        EXPECT_FALSE(no_wait_scope::is_active());
    }
    EXPECT_TRUE(no_wait_scope::is_active());
}

TEST(no_wait, scopes_are_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<no_wait_scope>);
    EXPECT_FALSE(std::is_move_constructible_v<no_wait_scope>);
}

TEST(no_wait, what_stands_at_a_free_is_nothing_without_checks) {
    EXPECT_EQ(std::is_empty_v<tenure::detail::promised_release>, !tenure::checks::caller);
    EXPECT_EQ(std::is_trivially_destructible_v<tenure::detail::promised_release>, !tenure::checks::caller);
    // In slow functions also the hooks (hooks.hpp), and nothing else.
    const bool is_hooks_alone = sizeof(tenure::detail::caller_release) == sizeof(tenure::detail::hooked_call);
    EXPECT_EQ(is_hooks_alone, !tenure::checks::caller);
}

TEST(no_wait, an_end_without_a_begin_does_nothing_and_is_reported_with_checks) {
    const support::heard_reports heard;
    tn_no_wait_end();
    EXPECT_EQ(heard.count(), tenure::checks::caller ? 1u : 0u);
    const no_wait_scope promise;
    EXPECT_EQ(tn_no_wait_is_active(), 1u);
}

/// Random scopes that overlap in any way, with allocations and frees between them, against counters.
class model {
public:
    explicit model(unsigned seed) : random_(seed) {}

    void step() {
        switch (random_() % 9) {
        case 0: return begin(promises_, &tn_no_alloc_begin);
        case 1: return begin(waits_, &tn_no_wait_begin);
        case 2: return begin(permissions_, &tn_allow_alloc_begin);
        case 3: return end(promises_, &tn_no_alloc_end);
        case 4: return end(waits_, &tn_no_wait_end);
        case 5: return end(permissions_, &tn_allow_alloc_end);
        case 6: return allocate();
        case 7: return free(std::exchange(block_, nullptr), "memory was freed inside a no_wait_scope");
        default: return free(nullptr, "a null pointer was freed inside a no_wait_scope");
        }
    }
    void finish() {
        while (promises_ != 0) end(promises_, &tn_no_alloc_end);
        while (waits_ != 0) end(waits_, &tn_no_wait_end);
        while (permissions_ != 0) end(permissions_, &tn_allow_alloc_end);
        tn_free(block_);
        EXPECT_EQ(heard_.count(), reports_) << heard_.last();
    }

private:
    void begin(int& depth, void (*function)()) {
        if (depth == 4) return;
        ++depth;
        function();
        compare();
    }
    void end(int& depth, void (*function)()) {
        if (depth == 0) return;
        --depth;
        function();
        compare();
    }
    void compare() const {
        EXPECT_EQ(tn_no_wait_is_active() != 0, waits_ != 0 && permissions_ == 0);
        EXPECT_EQ(tn_no_alloc_is_active() != 0, (promises_ | waits_) != 0 && permissions_ == 0);
    }
    void allocate() {
        if (block_ != nullptr) return;
        block_ = tn_malloc(48);
        const bool is_broken = (promises_ | waits_) != 0 && permissions_ == 0;
        expect(is_broken, waits_ != 0 ? "memory was allocated inside a no_wait_scope: 48 bytes of the process heap"
                                      : "memory was allocated inside a no_alloc_scope: 48 bytes of the process heap");
    }
    void free(void* block, const char* text) {
        const bool is_null = block == nullptr;
        tn_free(block);
        expect(waits_ != 0 && permissions_ == 0,
               is_null ? "a null pointer was freed inside a no_wait_scope, as a block of the process heap" : text);
    }
    void expect(bool is_broken, const char* text) {
        if (tenure::checks::caller && is_broken) {
            ++reports_;
            EXPECT_NE(heard_.last().find(text), std::string::npos) << heard_.last();
        }
        EXPECT_EQ(heard_.count(), reports_) << heard_.last();
    }

    std::minstd_rand random_;
    support::heard_reports heard_;
    int promises_ = 0, waits_ = 0, permissions_ = 0;
    void* block_ = nullptr;
    std::size_t reports_ = 0;
};

TEST(no_wait, random_scopes_report_what_the_counters_foretell) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        model checked(seed);
        for (int count = 0; count < 2000 && !HasFailure(); ++count) checked.step();
        checked.finish();
    }
}

TEST(no_wait, the_end_of_a_temp_scope_is_no_free_even_if_it_releases_chunks) {
    const support::heard_reports heard;
    std::optional<tenure::temp_scope> scope;
    scope.emplace();
    for (int count = 0; count < 3; ++count) ASSERT_NE(tenure::temp::allocate(std::size_t{5} << 20), nullptr);
    ASSERT_GT(tenure::temp::stats().overflow_count, 0u);
    const no_wait_scope promise;
    scope.reset();
    EXPECT_EQ(heard.count(tenure::report_kind::misuse), 0u) << heard.last();
}

TEST(no_wait, null_frees_count_where_they_reach_the_library) {
    const support::heard_reports heard;
    const no_wait_scope promise;
    const std::size_t each = tenure::checks::caller ? 1 : 0;
    tenure::temp_job::deallocate(nullptr);
    EXPECT_EQ(heard.count(), each);
    heap::process().deallocate(nullptr);
    EXPECT_EQ(heard.count(), 2 * each);
    tenure::temp::deallocate(nullptr, 8);
    EXPECT_EQ(heard.count(), 2 * each) << "Temp moves a cursor at most";
}

TEST(no_wait, a_child_of_fork_keeps_the_promise_of_the_thread_that_forked) {
    const support::heard_reports heard;
    void* const block = heap::process().allocate(100);
    pid_t child = 0;
    {
        const no_wait_scope promise;
        child = ::fork();
        if (child == 0) {
            heap::process().deallocate(block);
            const bool is_reported = heard.count() == (tenure::checks::caller ? 1u : 0u);
            ::_exit(is_reported && no_wait_scope::is_active() ? 0 : 1);
        }
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(heard.count(), 0u) << heard.last();
    EXPECT_FALSE(no_wait_scope::is_active());
    heap::process().deallocate(block);
}

}
