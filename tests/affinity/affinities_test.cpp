// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinities.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/adapt/resource_adaptor.hpp>
#include <tenure/adapt/stl_allocator.hpp>
#include <tenure/adapt/unique.hpp>
#include <tenure/base/options.hpp>

#include "affinity/fixture.hpp"
#include "support/again.hpp"
#include "support/ledger.hpp"
#include "support/process.hpp"
#include "support/reports.hpp"

namespace {

using namespace affinity_tests;
namespace affinities = tenure::affinities;

using in_nodes = tenure::affinity_object<affinities::nodes>;

std::size_t live() { return affinities::nodes().size(); }
bool is_passthrough() { return tenure::passthrough_enabled(tenure::part::affinity); }

template<std::size_t Bytes, std::size_t Alignment = 8>
struct alignas(Alignment) node : in_nodes {
    unsigned char bytes[Bytes];
};

TEST(affinity_ready_made, four_groups_have_their_names_and_alignments) {
    struct expected {
        affinity_group& group;
        std::string_view name;
        std::size_t alignment;
    };
    for (const expected& each : {expected{affinities::objects(), "objects", 8},
                                 {affinities::data(), "data", 16},
                                 {affinities::nodes(), "nodes", 8},
                                 {affinities::physics(), "physics", 16}}) {
        EXPECT_EQ(each.group.name(), each.name);
        EXPECT_EQ(each.group.alignment(), each.alignment);
        EXPECT_EQ(each.group.block_bytes(), tenure::option_value(tenure::option::affinity_block_bytes));
        const std::size_t before = each.group.size();
        std::vector<void*> made;
        for (int count = 0; count < 100; ++count) {
            made.push_back(each.group.allocate(20));
            EXPECT_EQ(tenure::address_of(made.back()) % each.alignment, 0u);
            EXPECT_TRUE(each.group.owns(made.back()));
        }
        EXPECT_EQ(each.group.size(), before + 100);
        for (void* one : made) each.group.deallocate(one); // any free may leave the size out
        EXPECT_EQ(each.group.size(), before);
    }
    EXPECT_NE(&affinities::objects(), &affinities::nodes());
    EXPECT_NE(&affinities::data(), &affinities::physics());
    EXPECT_EQ(&affinities::data(), &affinities::data());
}

TEST(affinity_objects, the_base_adds_nothing_to_a_class) {
    EXPECT_EQ(sizeof(node<1>), 8u);
    EXPECT_EQ(sizeof(node<24>), 24u);
    EXPECT_TRUE(std::is_empty_v<in_nodes>);
}

template<class T>
void make_many() {
    const std::size_t before = live();
    std::vector<std::unique_ptr<T>> made;
    support::ledger ledger;
    for (int count = 0; count < 300; ++count) {
        made.emplace_back(new T);
        ASSERT_EQ(ledger.add(made.back().get(), sizeof(T), alignof(T)), "");
        ASSERT_TRUE(affinities::nodes().owns(made.back().get()));
    }
    EXPECT_EQ(live(), before + 300);
    EXPECT_EQ(ledger.check_all(), "");
    made.clear();
    EXPECT_EQ(live(), before);
    EXPECT_TRUE(affinities::nodes().valid());
}

TEST(affinity_objects, are_made_and_deleted_in_the_group_with_every_size_and_alignment) {
    make_many<node<1>>();
    make_many<node<56>>();
    make_many<node<512>>();
    make_many<node<520>>();
    make_many<node<16'384>>();
    make_many<node<16'385>>();
    make_many<node<20, 16>>();
    make_many<node<1, 64>>();
    make_many<node<100, 1024>>();
    make_many<node<10, 4096>>();
    make_many<node<10, 8192>>();
}

struct shape : in_nodes {
    virtual ~shape() = default;
    virtual int kind() const { return 0; }
};
struct mixin {
    virtual ~mixin() = default;
    int padding = 1;
};
template<int Kind, std::size_t Bytes>
struct special : mixin, shape {
    int kind() const override { return Kind; }
    unsigned char bytes[Bytes];
};
struct alignas(64) wide_shape : shape {
    int kind() const override { return 64; }
};

TEST(affinity_objects, deleting_through_a_base_gives_back_the_size_of_the_derived_class) {
    const tenure::allocator_stats before = affinities::nodes().stats();
    std::vector<std::unique_ptr<shape>> shapes;
    for (int round = 0; round < 200; ++round) {
        shapes.emplace_back(new shape);
        shapes.emplace_back(new special<1, 8>);
        shapes.emplace_back(new special<2, 500>);
        shapes.emplace_back(new special<3, 40'000>);
        shapes.emplace_back(new wide_shape);
    }
    int sum = 0;
    for (const auto& each : shapes) sum += each->kind();
    EXPECT_EQ(sum, 200 * (0 + 1 + 2 + 3 + 64));
    EXPECT_EQ(live(), before.live_count + 1000);
    shapes.clear();
    EXPECT_EQ(live(), before.live_count);
    EXPECT_TRUE(affinities::nodes().valid());
}

struct with_destructor : in_nodes {
    ~with_destructor() { ++destroyed; }
    static inline int destroyed = 0;
    std::uint64_t value = 7;
};

TEST(affinity_objects, arrays_with_and_without_destructors_go_back_whole) {
    const std::size_t before = live();
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{100}, std::size_t{10'000}}) {
        auto* const plain = new node<24>[count];
        std::memset(plain, 3, count * 24);
        with_destructor::destroyed = 0;
        auto* const destroyed = new with_destructor[count];
        if (count != 0) {
            EXPECT_EQ(destroyed[count - 1].value, 7u);
        }
        auto* const wide = new node<40, 64>[count];
        EXPECT_EQ(tenure::address_of(wide) % 64, 0u);
        auto* const page = new node<40, 8192>[count == 10'000 ? 3 : count];
        EXPECT_EQ(tenure::address_of(page) % 8192, 0u);
        EXPECT_EQ(live(), before + 4);
        delete[] plain;
        delete[] destroyed;
        delete[] wide;
        delete[] page;
        EXPECT_EQ(static_cast<std::size_t>(with_destructor::destroyed), count);
        EXPECT_EQ(live(), before);
    }
    EXPECT_TRUE(affinities::nodes().valid());
}

TEST(affinity_objects, the_nothrow_forms_serve_too) {
    const std::size_t before = live();
    auto* const one = new (std::nothrow) node<40>;
    auto* const many = new (std::nothrow) node<40>[7];
    auto* const wide = new (std::nothrow) node<40, 64>;
    auto* const wide_many = new (std::nothrow) node<40, 64>[7];
    EXPECT_EQ(tenure::address_of(wide) % 64, 0u);
    EXPECT_EQ(live(), before + 4);
    delete one;
    delete[] many;
    delete wide;
    delete[] wide_many;
    EXPECT_EQ(live(), before);
}

TEST(affinity_objects, impossible_sizes_throw_or_are_null) {
    if (support::under_sanitizer() && is_passthrough()) GTEST_SKIP() << "the sanitizer's malloc would end it";
    std::size_t volatile most = std::size_t{PTRDIFF_MAX} - 64; // volatile: the compiler must not see that it fails
    const std::size_t before = live();
    EXPECT_THROW(in_nodes::operator new(most), std::bad_alloc);
    EXPECT_THROW(in_nodes::operator new[](most), std::bad_alloc);
    EXPECT_THROW(in_nodes::operator new (most, std::align_val_t{64}), std::bad_alloc);
    EXPECT_THROW(in_nodes::operator new[](most, std::align_val_t{64}), std::bad_alloc);
    EXPECT_EQ(in_nodes::operator new(most, std::nothrow), nullptr);
    EXPECT_EQ(in_nodes::operator new[](most, std::nothrow), nullptr);
    EXPECT_EQ(in_nodes::operator new (most, std::align_val_t{64}, std::nothrow), nullptr);
    EXPECT_EQ(in_nodes::operator new[](most, std::align_val_t{64}, std::nothrow), nullptr);
    EXPECT_EQ(live(), before);
}

template<std::size_t Bytes, std::size_t Alignment = 8>
struct alignas(Alignment) failing : in_nodes {
    failing() { throw std::runtime_error("no"); }
    unsigned char bytes[Bytes];
};

template<class T>
void fail_to_make() {
    const std::size_t before = live();
    for (int count = 0; count < 100; ++count) {
        EXPECT_THROW(new T, std::runtime_error);
        EXPECT_THROW(new (std::nothrow) T, std::runtime_error);
        EXPECT_THROW(new T[3], std::runtime_error);
        EXPECT_THROW(new (std::nothrow) T[3], std::runtime_error);
    }
    EXPECT_EQ(live(), before);
    EXPECT_TRUE(affinities::nodes().valid());
}

TEST(affinity_objects, what_a_constructor_that_throws_leaves_is_given_back) {
    fail_to_make<failing<24>>();
    fail_to_make<failing<24, 64>>();
    fail_to_make<failing<24, 4096>>();
    fail_to_make<failing<24, 8192>>();
    fail_to_make<failing<40'000>>();
}

TEST(affinity_objects, placement_allocates_nothing) {
    const std::size_t before = live();
    alignas(16) unsigned char place[sizeof(node<24>)];
    auto* const object = new (static_cast<void*>(place)) node<24>;
    EXPECT_EQ(static_cast<void*>(object), place);
    alignas(64) unsigned char wide_place[sizeof(failing<24>)];
    EXPECT_THROW(new (static_cast<void*>(wide_place)) failing<24>, std::runtime_error);
    EXPECT_EQ(live(), before);
}

TEST(affinity_objects, standard_containers_lie_in_a_group) {
    affinity_group& data = affinities::data();
    const std::size_t before = data.size();
    {
        std::vector<int, tenure::stl_allocator<int, affinity_group>> numbers{data};
        for (int count = 0; count < 100'000; ++count) numbers.push_back(count);
        EXPECT_TRUE(data.owns(numbers.data()));
        EXPECT_EQ(numbers[99'999], 99'999);
        std::list<int, tenure::stl_allocator<int, affinity_group>> links{1000, 7, data};
        EXPECT_EQ(data.size(), before + 1001);
        links.remove(7);
        EXPECT_EQ(data.size(), before + 1);

        const auto shared =
            std::allocate_shared<std::string>(tenure::stl_allocator<std::string, affinity_group>{data}, "a text");
        EXPECT_TRUE(data.owns(shared.get()));
        EXPECT_EQ(*shared, "a text");
        EXPECT_EQ(data.size(), before + 2) << "the count and the object are one";

        tenure::resource_adaptor resource{data};
        std::pmr::map<int, std::pmr::string> names{&resource};
        for (int count = 0; count < 500; ++count) names[count] = std::string(100, 'x');
        EXPECT_EQ(data.size(), before + 1002);
        EXPECT_TRUE(data.owns(names[3].data()));
        names.erase(7);
        EXPECT_EQ(data.size(), before + 1000);

        const auto unique = tenure::make_unique_in<std::string>(data, "another");
        EXPECT_TRUE(data.owns(unique.get()));
    }
    EXPECT_EQ(data.size(), before);
    EXPECT_TRUE(data.valid());
}

// Made before main, deleted after it: the groups must be there first and last.
const std::unique_ptr<node<56>> made_before_main{new node<56>};
struct deletes_last {
    std::unique_ptr<shape> held{new special<1, 8>};
    ~deletes_last() {
        held.reset();
        held.reset(new special<2, 500>);
    }
};
const deletes_last deletes_after_main;

TEST(affinity_objects, of_static_duration_are_made_before_main_and_deleted_after_it) {
    std::memset(made_before_main->bytes, 1, 56);
    EXPECT_EQ(deletes_after_main.held->kind(), 1);
}

TEST(affinity_passthrough, malloc_serves_each_object_and_the_group_still_knows_it) {
    if (!is_passthrough()) GTEST_SKIP() << "not under passthrough";
    tenure::counting_source source(tenure::page_source::process());
    const std::size_t before = support::malloc_bytes();
    {
        affinity_group group("passthrough", {.alignment = 16}, source);
        support::ledger ledger;
        for (std::size_t bytes : {0u, 1u, 56u, 512u, 20'000u, 1'000'000u}) {
            for (std::size_t alignment : {1u, 64u, 8192u}) {
                void* const made = group.allocate(bytes, alignment);
                ASSERT_EQ(ledger.add(made, bytes, std::max<std::size_t>(alignment, 16)), "");
                EXPECT_TRUE(group.owns(made));
            }
        }
        EXPECT_FALSE(group.owns(&group));
        if (support::malloc_is_counted) {
            EXPECT_GE(support::malloc_bytes(), before + 3'000'000);
        }
        EXPECT_EQ(group.size(), 18u);
        EXPECT_GE(group.stats().live_bytes, 3'000'000u);
        for (int form = 0; form < 10; ++form) {
            const support::block gone = ledger.at(ledger.size() / 2);
            ASSERT_EQ(ledger.remove(gone.at), "");
            form % 2 == 0 ? group.deallocate(gone.at) : group.deallocate(gone.at, gone.bytes, gone.alignment);
        }
        EXPECT_EQ(group.size(), 8u);
        EXPECT_TRUE(group.valid());
        group.clear();
        EXPECT_EQ(group.size(), 0u);
        EXPECT_LT(support::malloc_bytes(), before + 100'000);
        EXPECT_EQ(group.trim(), 0u);
        EXPECT_NE(group.allocate(500'000), nullptr); // and the destructor frees it
    }
    EXPECT_LT(support::malloc_bytes(), before + 100'000);
    EXPECT_EQ(source.requests(), 0u);
}

TEST(affinity_passthrough, the_same_holds_for_objects_and_groups_when_malloc_serves) {
    const support::outcome seen = support::run_again(
        {{"TENURE_PASSTHROUGH", "affinity"}}, "affinity_ready_made.*:affinity_objects.*:affinity_passthrough.malloc*");
    EXPECT_EQ(seen.status, 0) << seen.output;
    EXPECT_EQ(seen.output.find("[  SKIPPED ] affinity_passthrough"), std::string::npos) << seen.output;
    EXPECT_NE(seen.output.find("[  PASSED  ]"), std::string::npos) << seen.output;
}

/// Runs in a process of its own, below.
TEST(affinity_environment, blocks_are_as_large_as_it_says) {
    const char* const expected = std::getenv("TENURE_TEST_EXPECTED_BLOCK");
    if (expected == nullptr) GTEST_SKIP() << "asked in processes of their own";
    for (affinity_group* group : {&affinities::objects(), &affinities::data(), &affinities::physics()}) {
        EXPECT_EQ(group->block_bytes(), std::stoull(expected));
        void* const object = group->allocate(56);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(group->usage().total_bytes, std::stoull(expected));
        group->deallocate(object, 56);
    }
}

TEST(affinity_environment, the_block_size_is_rounded_down_to_a_power_of_two) {
    for (const auto& [asked, expected] : std::map<std::string, std::string>{
             {"64K", "65536"}, {"1M", "1048576"}, {"3M", "2097152"}, {"100000", "65536"}, {"4194303", "2097152"}}) {
        const support::outcome seen =
            support::run_again({{"TENURE_AFFINITY_BLOCK", asked}, {"TENURE_TEST_EXPECTED_BLOCK", expected}},
                               "affinity_environment.blocks*");
        EXPECT_EQ(seen.status, 0) << asked << "\n" << seen.output;
    }
}

/// Runs in a process of its own, below.
TEST(affinity_environment, objects_are_placed_as_it_says) {
    if (std::getenv("TENURE_TEST_CONFIGURED") == nullptr) GTEST_SKIP() << "asked in processes of their own";
    affinity_group& group = affinities::nodes();
    EXPECT_EQ(group.alignment(), 32u);
    const auto* const first = static_cast<unsigned char*>(group.allocate(40));
    const auto* const other = static_cast<unsigned char*>(group.allocate(200));
    const auto* const second = static_cast<unsigned char*>(group.allocate(40));
    EXPECT_EQ(second - first, 64) << "another size lies elsewhere";
    for (auto* const each : {first, second}) group.deallocate(const_cast<unsigned char*>(each), 40);
    group.deallocate(const_cast<unsigned char*>(other), 200);
}

/// Likewise.
TEST(affinity_environment, frees_must_pass_the_size_if_it_says_so) {
    if (std::getenv("TENURE_TEST_CONFIGURED") == nullptr) GTEST_SKIP() << "asked in processes of their own";
    affinity_group& group = affinities::objects();
    void* const object = group.allocate(40);
    const support::heard_reports heard;
    group.deallocate(object);
    EXPECT_EQ(heard.count(), 1u);
    group.deallocate(object, 40);
    EXPECT_EQ(heard.count(), 1u);
}

TEST(affinity_environment, the_ready_made_groups_have_its_options) {
    const support::outcome seen = support::run_again({{"TENURE_AFFINITY_ALIGNMENT", "20"},
                                                      {"TENURE_AFFINITY_BY_SIZE", "1"},
                                                      {"TENURE_AFFINITY_HUGE_PAGES", "1"},
                                                      {"TENURE_TEST_CONFIGURED", "1"}},
                                                     "affinity_environment.objects_are*");
    EXPECT_EQ(seen.status, 0) << seen.output;
    const support::outcome sized = support::run_again(
        {{"TENURE_AFFINITY_SIZE_REQUIRED", "1"}, {"TENURE_TEST_CONFIGURED", "1"}}, "affinity_environment.frees_must*");
    EXPECT_EQ(sized.status, 0) << sized.output;
}

/// Likewise, in a process whose TENURE_AFFINITY_BLOCK is 16M.
TEST(affinity_environment, configure_keeps_the_alignment_and_the_block_size) {
    if (std::getenv("TENURE_TEST_CONFIGURED") == nullptr) GTEST_SKIP() << "asked in processes of their own";
    affinity_group& group = affinities::physics();
    ASSERT_TRUE(group.configure({.layout = tenure::page_layout::by_size}));
    EXPECT_EQ(group.alignment(), 16u);
    EXPECT_EQ(group.block_bytes(), 16 * mebibyte);
    EXPECT_EQ(affinities::nodes().alignment(), 8u);
}

TEST(affinity_environment, of_the_process_outlasts_configure) {
    const support::outcome seen = support::run_again(
        {{"TENURE_AFFINITY_BLOCK", "16M"}, {"TENURE_TEST_CONFIGURED", "1"}}, "affinity_environment.configure_keeps*");
    EXPECT_EQ(seen.status, 0) << seen.output;
}

TEST(affinity_environment, at_an_alignment_of_four_objects_of_every_type_are_aligned) {
    const support::outcome seen = support::run_again({{"TENURE_AFFINITY_ALIGNMENT", "4"}}, "affinity_objects.*");
    EXPECT_EQ(seen.status, 0) << seen.output;
}

TEST(affinity_replacement, is_told_the_alignment_at_the_free_as_at_the_allocation) {
    struct seen {
        std::size_t allocated = 0, freed = 0;
    } last;
    affinity_group group("replaced", {.alignment = 8});
    ASSERT_TRUE(group.replace_with({&last,
                                    [](void* context, std::size_t bytes, std::size_t alignment) -> void* {
                                        static_cast<seen*>(context)->allocated = alignment;
                                        return ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
                                    },
                                    [](void* context, void* block, std::size_t, std::size_t alignment) {
                                        static_cast<seen*>(context)->freed = alignment;
                                        ::operator delete (block, std::align_val_t{alignment});
                                    }}));
    for (const std::size_t alignment : {8u, 16u, 64u, 256u, 4096u, 8192u}) {
        void* const object = group.allocate(50, alignment);
        group.deallocate(object, 50, alignment);
        EXPECT_EQ(last.allocated, alignment);
        EXPECT_EQ(last.freed, alignment);
    }
}

}
