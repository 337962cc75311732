// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What breaks a promise: every way to memory that the library has, reported once where checks are on and never
// elsewhere.

#include <tenure/base/no_alloc.hpp>

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>
#include <tenure/affinity/affinities.hpp>
#include <tenure/affinity/affinity_group.hpp>
#include <tenure/arena/arena.hpp>
#include <tenure/buffer/fixed_buffer.hpp>
#include <tenure/buffer/fixed_utf8_string.hpp>
#include <tenure/buffer/huge_array.hpp>
#include <tenure/buffer/safe_array.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/make.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>
#include <tenure/pool/pool.hpp>
#include <tenure/pool/shared_pool.hpp>
#include <tenure/pool/small_object.hpp>
#include <tenure/tenure.h>

#include "support/reports.hpp"

namespace {

using tenure::allow_alloc_scope;
using tenure::lifetime;
using tenure::no_alloc_scope;
using tenure::report_kind;

struct small_allocated : tenure::small_object {
    int value = 0;
};

class no_alloc_checks : public testing::Test {
protected:
    /// Expects that what is done breaks a promise, once, where checks are on; and that it may be done outside one.
    void expect_broken(const std::string& what, const std::function<void()>& done) {
        const std::size_t before = heard_.count();
        {
            const no_alloc_scope promise;
            done();
            EXPECT_TRUE(no_alloc_scope::is_active()) << what;
        }
        EXPECT_EQ(heard_.count() - before, tenure::checks::caller ? 1u : 0u) << what << ": " << heard_.last();
        if (tenure::checks::caller) {
            EXPECT_NE(heard_.last().find("inside a no_alloc_scope: "), std::string::npos) << heard_.last();
            EXPECT_NE(heard_.last().find(what), std::string::npos) << heard_.last();
        }
        expect_kept(what, done);
    }
    void expect_kept(const std::string& what, const std::function<void()>& done) {
        const std::size_t before = heard_.count();
        done();
        const no_alloc_scope promise;
        const allow_alloc_scope permission;
        done();
        EXPECT_EQ(heard_.count(), before) << what << ": " << heard_.last();
    }

    support::heard_reports heard_;
};

TEST_F(no_alloc_checks, by_lifetime) {
    expect_broken("100 bytes of Temp", [] {
        const tenure::temp_scope scope;
        EXPECT_NE(tenure::allocate(100, lifetime::temp), nullptr);
    });
    expect_broken("100 bytes of TempJob",
                  [] { tenure::deallocate(tenure::allocate(100, lifetime::temp_job), lifetime::temp_job); });
    expect_broken("100 bytes of the process heap",
                  [] { tenure::deallocate(tenure::allocate(100, lifetime::persistent), 100, lifetime::persistent); });
}

TEST_F(no_alloc_checks, of_a_heap) {
    tenure::heap own;
    void* kept = own.allocate(100'000);
    expect_broken("200 bytes of a heap", [&] { own.deallocate(own.allocate(200)); });
    expect_broken("200 bytes of a heap", [&] { own.deallocate(own.allocate(200, 16, tenure::fill::zero)); });
    expect_broken("200000 bytes of a heap", [&] { kept = own.reallocate(kept, 200'000); });
    expect_broken("150000 bytes of a heap", [&] { EXPECT_TRUE(own.resize(kept, 150'000)); });
    own.deallocate(kept);
    expect_broken("300 bytes of the process heap",
                  [] { tenure::heap::process().deallocate(tenure::heap::process().allocate(300)); });
    expect_broken("4 bytes of the process heap", [] { tenure::destroy(tenure::make<int>(1)); });
    expect_broken("40 bytes of the process heap", [] { tenure::destroy_array(tenure::make_array<int>(10)); });
}

TEST_F(no_alloc_checks, of_arenas_and_pools) {
    tenure::arena arena;
    expect_broken("50 bytes of an arena", [&] { EXPECT_NE(arena.allocate(50), nullptr); });
    tenure::block_pool blocks(64);
    expect_broken("64 bytes of a pool", [&] { blocks.deallocate(blocks.allocate()); });
    tenure::pool<long> longs;
    expect_broken("8 bytes of a pool", [&] { longs.destroy(longs.construct(1)); });
    tenure::shared_block_pool shared(128);
    expect_broken("128 bytes of a pool", [&] { shared.deallocate(shared.allocate()); });
    tenure::shared_pool<long> shared_longs;
    expect_broken("8 bytes of a pool", [&] { shared_longs.destroy(shared_longs.construct(1)); });
    expect_broken("bytes of a small_object", [] { delete new small_allocated; });
}

TEST_F(no_alloc_checks, of_affinity_groups) {
    tenure::affinity_group group("promised");
    expect_broken("40 bytes of an affinity group", [&] { group.deallocate(group.allocate(40)); });
    expect_broken("100000 bytes of an affinity group", [&] { group.deallocate(group.allocate(100'000)); }); // by a heap
    expect_broken("24 bytes of an affinity group",
                  [] { tenure::affinities::data().deallocate(tenure::affinities::data().allocate(24)); });
}

TEST_F(no_alloc_checks, with_handles) {
    expect_broken("400 bytes with a handle", [] { (void)tenure::fixed_buffer<int>::make(100).deallocate(); });
    expect_broken("400 bytes with a handle", [] { (void)tenure::safe_array<int>::make(100); });
    expect_broken("400 bytes with a handle", [] { (void)tenure::huge_array<int>::make(100); });
    expect_broken("6 bytes with a handle", [] { (void)tenure::fixed_utf8_string::make("words").deallocate(); });
    expect_broken("4096 bytes of a file with a handle",
                  [] { (void)tenure::huge_array<char>::map_file(nullptr, 4096); });
}

TEST_F(no_alloc_checks, of_offsets_only_where_records_need_memory) {
    tenure::offset_allocator offsets(1000);
    {
        const no_alloc_scope promise;
        EXPECT_TRUE(offsets.allocate(10));
        EXPECT_EQ(heard_.count(), tenure::checks::caller ? 1u : 0u);
        EXPECT_TRUE(offsets.allocate(10));
        EXPECT_EQ(heard_.count(), tenure::checks::caller ? 1u : 0u);
    }
    if (tenure::checks::caller) {
        EXPECT_NE(heard_.last().find("offset_allocator's records"), std::string::npos) << heard_.last();
    }
}

TEST_F(no_alloc_checks, by_adaptors) {
    tenure::arena arena;
    expect_broken("of an arena", [&] { (void)tenure::make_unique_in<int>(arena, 1); });
    expect_broken("of an arena", [&] {
        tenure::stl_allocator<int, tenure::arena> from(arena);
        from.deallocate(from.allocate(10), 10);
    });
}

TEST_F(no_alloc_checks, from_c) {
    expect_broken("10 bytes of the process heap", [] { tn_free(tn_malloc(10)); });
    expect_broken("20 bytes of the process heap", [] { tn_free(tn_calloc(2, 10)); });
    expect_broken("64 bytes of the process heap", [] { tn_free(tn_aligned_alloc(64, 64)); });
    expect_broken("of the process heap", [] { tn_arena_destroy(tn_arena_create(0, nullptr)); });
}

TEST_F(no_alloc_checks, frees_keep_the_promise) {
    tenure::heap own;
    tenure::arena arena;
    tenure::pool<long> longs;
    tenure::affinity_group group("promised");
    void* const of_heap = own.allocate(100);
    void* const of_arena = arena.allocate(100);
    void* const of_group = group.allocate(100);
    void* const job = tenure::allocate(100, lifetime::temp_job);
    long* const of_pool = longs.construct(1);
    const auto buffer = tenure::fixed_buffer<int>::make(10);
    {
        const no_alloc_scope promise;
        own.deallocate(of_heap);
        arena.deallocate(of_arena, 100);
        arena.clear();
        (void)arena.trim();
        longs.destroy(of_pool);
        group.deallocate(of_group);
        tenure::deallocate(job, lifetime::temp_job);
        EXPECT_EQ(buffer.deallocate(), tenure::status::ok);
        (void)own.trim();
        tenure::next_frame();
    }
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

TEST_F(no_alloc_checks, the_scopes_of_other_kinds_keep_the_promise) {
    const no_alloc_scope promise;
    const tenure::temp_scope scope; // in checked builds it makes the thread's record
    const tenure::tag_scope owner("promised");
    EXPECT_EQ(heard_.count(), 0u) << heard_.last();
}

void allocate_and_count(report_kind, std::string_view) noexcept;
int counted = 0;
void allocate_and_count(report_kind, std::string_view) noexcept {
    ++counted;
    EXPECT_FALSE(no_alloc_scope::is_active());
    tenure::heap::process().deallocate(tenure::heap::process().allocate(1000));
    const tenure::temp_scope scope;
    EXPECT_NE(tenure::allocate(10, lifetime::temp), nullptr);
}

TEST_F(no_alloc_checks, whoever_hears_the_report_may_allocate) {
    counted = 0;
    const tenure::report_handler former = tenure::set_report_handler(&allocate_and_count);
    {
        const no_alloc_scope promise;
        void* const block = tenure::heap::process().allocate(10);
        EXPECT_NE(block, nullptr);
        tenure::heap::process().deallocate(block);
        tenure::heap::process().deallocate(tenure::heap::process().allocate(10));
    }
    tenure::set_report_handler(former);
    EXPECT_EQ(counted, tenure::checks::caller ? 2 : 0);
}

TEST(no_alloc_death, the_default_is_a_stack_and_the_end) {
    if (!tenure::checks::caller) GTEST_SKIP() << "the caller's mistakes are not checked";
    EXPECT_DEATH(
        {
            const no_alloc_scope promise;
            (void)tenure::heap::process().allocate(77);
        },
        "inside a no_alloc_scope: 77 bytes of the process heap(.|\n)*#0");
}

}
