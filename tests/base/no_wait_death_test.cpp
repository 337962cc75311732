// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What breaks a promise not to wait: every way to free memory of the library, reported once where checks are on and
// never elsewhere.

#include <tenure/base/no_wait.hpp>

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>

#include "support/reports.hpp"

namespace {

using tenure::heap;
using tenure::lifetime;
using tenure::no_wait_scope;

struct small_freed : tenure::small_object {
    int value = 0;
};

class no_wait_checks : public testing::Test {
protected:
    /// Expects that `freed` breaks a promise, once, where checks are on; and that a no_alloc_scope permits it.
    template<class Allocate, class Free>
    void expect_broken(const std::string& what, Allocate allocate, Free freed) {
        auto first = allocate();
        auto second = allocate();
        const std::size_t before = heard_.count();
        {
            const no_wait_scope promise;
            freed(first);
            EXPECT_TRUE(no_wait_scope::is_active()) << what;
        }
        EXPECT_EQ(heard_.count() - before, tenure::checks::caller ? 1u : 0u) << what << ": " << heard_.last();
        if (tenure::checks::caller) {
            EXPECT_NE(heard_.last().find("freed inside a no_wait_scope"), std::string::npos) << heard_.last();
            EXPECT_NE(heard_.last().find(what), std::string::npos) << heard_.last();
        }
        const std::size_t after = heard_.count();
        const tenure::no_alloc_scope weaker;
        freed(second);
        EXPECT_EQ(heard_.count(), after) << what << ": " << heard_.last();
    }

    support::heard_reports heard_;
};

TEST_F(no_wait_checks, a_free_to_a_heap) {
    heap own;
    const auto of_own = [&own] { return own.allocate(200); };
    expect_broken("a block of a heap", of_own, [&own](void* block) { own.deallocate(block); });
    expect_broken("a block of a heap", of_own, [&own](void* block) { own.deallocate(block, 200); });
    expect_broken(
        "a block of a heap", [&own] { return own.allocate(2'000'000); },
        [&own](void* block) { own.deallocate(block); });
    expect_broken(
        "a block of the process heap", [] { return heap::process().allocate(64); },
        [](void* block) { heap::process().deallocate(block); });
    expect_broken(
        "a block of the process heap", [] { return tenure::make<long>(1L); },
        [](long* made) { tenure::destroy(made); });
}

TEST_F(no_wait_checks, a_free_of_a_null_pointer) {
    heap own;
    const auto nothing = [] { return static_cast<void*>(nullptr); };
    expect_broken("a null pointer was freed", nothing, [&own](void* block) { own.deallocate(block); });
    expect_broken("a null pointer was freed", nothing, [](void* block) { heap::process().deallocate(block); });
    expect_broken("a null pointer was freed", nothing,
                  [](void* block) { tenure::deallocate(block, lifetime::persistent); });
}

TEST_F(no_wait_checks, a_free_by_lifetime) {
    expect_broken(
        "a block of TempJob", [] { return tenure::allocate(100, lifetime::temp_job); },
        [](void* block) { tenure::deallocate(block, lifetime::temp_job); });
    expect_broken(
        "a block of the process heap", [] { return tenure::allocate(100, lifetime::persistent); },
        [](void* block) { tenure::deallocate(block, lifetime::persistent); });
}

TEST_F(no_wait_checks, a_free_to_a_pool_or_group) {
    tenure::pool<long> longs;
    expect_broken(
        "a block of a pool", [&] { return longs.construct(1); }, [&](long* made) { longs.destroy(made); });
    tenure::shared_pool<long> shared;
    expect_broken(
        "a block of a pool", [&] { return shared.construct(1); }, [&](long* made) { shared.destroy(made); });
    expect_broken(
        "a small_object", [] { return new small_freed; }, [](small_freed* made) { delete made; });
    tenure::affinity_group group("promised");
    expect_broken(
        "an object of an affinity group", [&] { return group.allocate(40); },
        [&](void* object) { group.deallocate(object); });
    expect_broken(
        "an object of an affinity group", [&] { return group.allocate(100'000); },
        [&](void* object) { group.deallocate(object); });
}

TEST_F(no_wait_checks, a_free_of_a_handle) {
    expect_broken(
        "a block of the process heap", [] { return tenure::fixed_buffer<int>::make(100); },
        [](const tenure::fixed_buffer<int>& buffer) { (void)buffer.deallocate(); });
}

TEST_F(no_wait_checks, an_arena_that_is_cleared_keeps_the_promise) {
    tenure::arena arena;
    ASSERT_NE(arena.allocate(100), nullptr);
    const no_wait_scope promise;
    arena.clear();
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(no_wait_checks, an_allocation_names_the_scope) {
    heap::process().deallocate(heap::process().allocate(77));
    void* block = nullptr;
    {
        const no_wait_scope promise;
        block = heap::process().allocate(77);
    }
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(heard_.count(), tenure::checks::caller ? 1u : 0u);
    if (tenure::checks::caller) {
        EXPECT_NE(heard_.last().find("allocated inside a no_wait_scope: 77 bytes"), std::string::npos) << heard_.last();
    }
    heap::process().deallocate(block);
}

TEST(no_wait_death, the_default_is_a_stack_and_the_end) {
    if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    EXPECT_DEATH(
        {
            void* const block = heap::process().allocate(77);
            const no_wait_scope promise;
            heap::process().deallocate(block);
        },
        "freed inside a no_wait_scope: a block of the process heap(.|\n)*#0");
}

}
