// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/small_object.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>

#include "support/ledger.hpp"
#include "support/random.hpp"

namespace {

using tenure::small_object;

bool uses_pools() { return !tenure::passthrough_enabled(tenure::part::small_object); }
std::size_t live() { return small_object::stats().live_count; }

template<std::size_t Bytes>
struct sized : small_object {
    unsigned char bytes[Bytes];
};

template<std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) aligned : small_object {
    unsigned char bytes[Bytes];
};

template<class T>
void make_many() {
    const std::size_t before = live();
    std::vector<std::unique_ptr<T>> made;
    support::ledger ledger;
    for (int count = 0; count < 300; ++count) {
        made.emplace_back(new T);
        ASSERT_EQ(ledger.add(made.back().get(), sizeof(T), alignof(T)), "");
    }
    if (uses_pools() && sizeof(T) <= 32768 && alignof(T) <= 64) {
        EXPECT_EQ(live(), before + 300);
    }
    EXPECT_EQ(ledger.check_all(), "");
    made.clear();
    EXPECT_EQ(live(), before);
}

TEST(small_object, it_adds_nothing_to_a_class) {
    EXPECT_EQ(sizeof(sized<1>), 1u);
    EXPECT_EQ(sizeof(sized<24>), 24u);
    EXPECT_TRUE(std::is_empty_v<small_object>);
}

template<std::size_t... Sizes>
void make_each(std::index_sequence<Sizes...>) {
    (make_many<sized<Sizes>>(), ...);
}

TEST(small_object, every_size_is_served_apart_and_given_back) {
    make_each(std::index_sequence<1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 127, 128, 129, 144, 145,
                                  255, 256, 257, 280, 500, 1023, 1024, 1025, 1280, 1281, 2048, 4096, 5000, 16384, 32767,
                                  32768, 32769, 40'000>{});
}

TEST(small_object, every_alignment_is_kept) {
    make_many<aligned<1, 2>>();
    make_many<aligned<3, 8>>();
    make_many<aligned<20, 16>>();
    make_many<aligned<1, 32>>();
    make_many<aligned<100, 32>>();
    make_many<aligned<1, 64>>();
    make_many<aligned<1000, 64>>();
    make_many<aligned<10, 128>>();
    make_many<aligned<1, 4096>>();
    make_many<aligned<5000, 4096>>();
}

/// The words behind new and delete, for every size that there is.
TEST(small_object, all_sizes_up_to_40000_come_aligned_and_go_back) {
    const std::size_t before = live();
    support::random numbers(1);
    for (std::size_t bytes = 0; bytes <= 40'000; bytes += bytes < 2100 ? 1 : 1 + numbers.below(50)) {
        for (std::size_t alignment : {1u, 8u, 16u, 64u, 4096u}) {
            void* const block = tenure::detail::allocate_small(bytes, alignment);
            ASSERT_NE(block, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
            if (alignment == 1 && bytes != 0 && bytes % 8 == 0) {
                // What a type of this size may ask for without saying so.
                ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::min<std::size_t>(bytes & (~bytes + 1), 16),
                          0u);
            }
            std::memset(block, 1, bytes);
            tenure::detail::deallocate_small(block, bytes, alignment);
        }
    }
    EXPECT_EQ(live(), before);
}

TEST(small_object, impossible_sizes_are_refused) {
    EXPECT_EQ(tenure::detail::allocate_small(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(tenure::detail::allocate_small(PTRDIFF_MAX, 4096), nullptr);
    EXPECT_EQ(tenure::detail::allocate_small(1, std::size_t{1} << 63), nullptr);
    EXPECT_EQ(tenure::detail::allocate_small(100'000, std::size_t{1} << 62), nullptr);
    std::size_t volatile most = std::size_t{PTRDIFF_MAX} - 64; // volatile: the compiler must not see that it fails
    EXPECT_THROW(small_object::operator new(most), std::bad_alloc);
    EXPECT_THROW(small_object::operator new[](most), std::bad_alloc);
    EXPECT_THROW(small_object::operator new (most, std::align_val_t{64}), std::bad_alloc);
    EXPECT_EQ(small_object::operator new(most, std::nothrow), nullptr);
    EXPECT_EQ(small_object::operator new (most, std::align_val_t{64}, std::nothrow), nullptr);
}

struct with_destructor : small_object {
    ~with_destructor() { ++destroyed; }
    static inline int destroyed = 0;
    std::uint64_t value = 7;
};

TEST(small_object, arrays_with_and_without_destructors_go_back_whole) {
    const std::size_t before = live();
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{100}, std::size_t{10'000}}) {
        auto* const plain = new sized<24>[count];
        std::memset(plain, 3, count * 24);
        with_destructor::destroyed = 0;
        auto* const destroyed = new with_destructor[count];
        if (count != 0) {
            EXPECT_EQ(destroyed[count - 1].value, 7u);
        }
        auto* const wide = new aligned<40, 32>[count];
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 32, 0u);
        auto* const page = new aligned<40, 4096>[count == 10'000 ? 3 : count];
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(page) % 4096, 0u);
        delete[] plain;
        delete[] destroyed;
        delete[] wide;
        delete[] page;
        EXPECT_EQ(static_cast<std::size_t>(with_destructor::destroyed), count);
        EXPECT_EQ(live(), before);
    }
}

TEST(small_object, the_nothrow_forms_serve_too) {
    const std::size_t before = live();
    auto* const one = new (std::nothrow) sized<40>;
    auto* const many = new (std::nothrow) sized<40>[7];
    auto* const wide = new (std::nothrow) aligned<40, 64>;
    auto* const widest = new (std::nothrow) aligned<40, 4096>;
    auto* const wide_many = new (std::nothrow) aligned<40, 64>[7];
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(widest) % 4096, 0u);
    delete one;
    delete[] many;
    delete wide;
    delete widest;
    delete[] wide_many;
    EXPECT_EQ(live(), before);
}

template<std::size_t Bytes, std::size_t Alignment = 8>
struct alignas(Alignment) failing : small_object {
    failing() { throw std::runtime_error("no"); }
    unsigned char bytes[Bytes];
};

template<class T>
void fail_to_make() {
    const std::size_t before = live();
    for (int count = 0; count < 300; ++count) {
        EXPECT_THROW(new T, std::runtime_error);
        EXPECT_THROW(new (std::nothrow) T, std::runtime_error);
        EXPECT_THROW(new T[3], std::runtime_error);
        EXPECT_THROW(new (std::nothrow) T[3], std::runtime_error);
    }
    EXPECT_EQ(live(), before);
}

TEST(small_object, what_a_constructor_that_throws_leaves_is_given_back) {
    fail_to_make<failing<24>>();
    fail_to_make<failing<24, 64>>();
    fail_to_make<failing<24, 4096>>();
    fail_to_make<failing<40'000>>();
}

TEST(small_object, placement_allocates_nothing) {
    const std::size_t before = live();
    alignas(16) unsigned char place[sizeof(sized<24>)];
    auto* const object = new (static_cast<void*>(place)) sized<24>;
    EXPECT_EQ(static_cast<void*>(object), place);
    EXPECT_EQ(live(), before);
    alignas(64) unsigned char wide_place[sizeof(failing<24>)];
    EXPECT_THROW(new (static_cast<void*>(wide_place)) failing<24>, std::runtime_error);
    EXPECT_EQ(live(), before);
}

struct base_shape : small_object {
    virtual ~base_shape() = default;
    virtual int kind() const { return 0; }
};
struct mixin {
    virtual ~mixin() = default;
    int padding = 1;
};
template<int Kind, std::size_t Bytes>
struct special : mixin, base_shape {
    int kind() const override { return Kind; }
    unsigned char bytes[Bytes];
};
struct alignas(64) wide_shape : base_shape {
    int kind() const override { return 64; }
};

TEST(small_object, deleting_through_a_base_gives_back_the_size_of_the_derived_class) {
    const std::size_t before = small_object::stats().live_bytes;
    std::vector<std::unique_ptr<base_shape>> shapes;
    for (int round = 0; round < 200; ++round) {
        shapes.emplace_back(new base_shape);
        shapes.emplace_back(new special<1, 8>);
        shapes.emplace_back(new special<2, 500>);
        shapes.emplace_back(new special<3, 40'000>);
        shapes.emplace_back(new wide_shape);
    }
    int sum = 0;
    for (const auto& each : shapes) sum += each->kind();
    EXPECT_EQ(sum, 200 * (0 + 1 + 2 + 3 + 64));
    shapes.clear();
    EXPECT_EQ(small_object::stats().live_bytes, before);
}

TEST(small_object, trim_gives_back_what_is_empty) {
    if (!uses_pools()) GTEST_SKIP() << "malloc keeps the memory";
    {
        std::vector<std::unique_ptr<sized<200>>> many;
        for (int count = 0; count < 50'000; ++count) many.emplace_back(new sized<200>);
        EXPECT_GE(small_object::stats().live_bytes, 50'000u * 200);
        EXPECT_EQ(many.size(), 50'000u);
    }
    EXPECT_GT(small_object::trim(), 50'000u * 200);
    EXPECT_LT(small_object::stats().reserved_bytes, std::size_t{1} << 30);
    const std::unique_ptr<sized<200>> after(new sized<200>);
    EXPECT_NE(after, nullptr);
}

// Made before main, deleted after it: the pools must be there first and last.
std::unique_ptr<sized<56>> made_before_main{new sized<56>};
struct deletes_last {
    std::unique_ptr<base_shape> held{new special<1, 8>};
    ~deletes_last() {
        held.reset();
        held.reset(new special<2, 500>);
    }
};
const deletes_last deletes_after_main;

TEST(small_object, objects_of_static_duration_are_made_before_main) {
    std::memset(made_before_main->bytes, 1, 56);
    EXPECT_EQ(deletes_after_main.held->kind(), 1);
}

TEST(small_object, passthrough_is_decided_once) {
    // Whatever it was, a later change of the option must not send blocks back another way than they came.
    auto* const before = new sized<56>;
    const std::uint64_t set = tenure::option_value(tenure::option::passthrough);
    tenure::set_option(tenure::option::passthrough, tenure::all_parts & ~set);
    delete before;
    const std::unique_ptr<sized<56>> during(new sized<56>);
    tenure::set_option(tenure::option::passthrough, set);
    EXPECT_NE(during, nullptr);
}

}
