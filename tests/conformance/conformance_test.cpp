// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What every allocator of this library promises, asked of each in the same words. Each test runs on a fresh thread,
// because Temp reads its budget once a thread.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>

#include "conformance/subjects.hpp"
#include "support/ledger.hpp"
#include "support/random.hpp"

namespace {

using namespace conformance;

template<class Subject>
class conforming : public testing::Test {
protected:
    using allocator_type = decltype(Subject::allocator);
    static_assert(tenure::allocator<allocator_type>);

    conforming() { tenure::set_option(tenure::option::temp_budget_bytes, 4096); }
    ~conforming() override { EXPECT_EQ(counted_.live_blocks(), 0u) << "all goes back to the source"; }

    /// Runs `work(subject)` and looks at the end that everything went back.
    template<class Work>
    void with_subject(Work work) {
        support::on_fresh_thread([&] {
            Subject subject(failing_);
            work(subject);
            if (is_detoured<Subject>()) {
                EXPECT_EQ(counted_.requests(), 0u) << "nothing comes from the source";
            }
        });
        tenure::temp_job::trim();
    }

    static void expect_valid(Subject& subject) {
        if constexpr (requires { subject.allocator.valid(); }) {
            ASSERT_TRUE(subject.allocator.valid());
        }
    }
    static bool owns(const Subject& subject, const void* pointer) {
        return !knows_its_own<Subject> || subject.allocator.owns(pointer);
    }

    tenure::counting_source counted_{tenure::page_source::process()};
    tenure::failing_source failing_{counted_, SIZE_MAX};
};

using subjects =
    testing::Types<arena_subject, temp_subject, temp_job_subject, block_pool_subject<tenure::block_pool>,
                   block_pool_subject<tenure::shared_block_pool>, object_pool_subject<tenure::pool<object>>,
                   object_pool_subject<tenure::shared_pool<object>>, pmr_subject<arena_subject>,
                   pmr_subject<temp_subject>, pmr_subject<temp_job_subject>,
                   pmr_subject<block_pool_subject<tenure::block_pool>>,
                   pmr_subject<object_pool_subject<tenure::shared_pool<object>>>, stl_subject<arena_subject>,
                   stl_subject<temp_job_subject>, stl_subject<block_pool_subject<tenure::shared_block_pool>>>;
TYPED_TEST_SUITE(conforming, subjects);

TYPED_TEST(conforming, every_alignment_is_kept) {
    this->with_subject([&](TypeParam& subject) {
        support::ledger ledger;
        for (int round = 0; round < 20; ++round) {
            for (std::size_t alignment = 1; alignment <= TypeParam::most_alignment; alignment *= 2) {
                for (std::size_t bytes : {std::size_t{1}, std::size_t{24}, TypeParam::most_bytes / 100 + 1}) {
                    void* const block = subject.allocator.allocate(bytes, alignment);
                    ASSERT_NE(block, nullptr) << bytes << " bytes aligned to " << alignment;
                    ASSERT_EQ(ledger.add(block, bytes, alignment), "");
                    this->expect_valid(subject);
                }
            }
        }
        EXPECT_EQ(ledger.check_all(), "");
        subject.drop();
    });
}

TYPED_TEST(conforming, no_two_blocks_overlap_and_contents_are_kept_whatever_is_freed) {
    this->with_subject([&](TypeParam& subject) {
        support::random numbers(support::new_seed());
        support::ledger ledger;
        for (int round = 0; round < 1500; ++round) {
            if (numbers.below(5) < 3 || ledger.empty()) {
                std::size_t const most = numbers.one_in(30) ? TypeParam::most_bytes : TypeParam::most_bytes / 100 + 8;
                std::size_t const bytes = numbers.below(std::min(most, TypeParam::most_bytes)) + 1;
                std::size_t alignment = std::size_t{1} << numbers.below(13);
                alignment = std::min(alignment, TypeParam::most_alignment);
                void* const block = subject.allocator.allocate(bytes, alignment);
                ASSERT_NE(block, nullptr);
                ASSERT_EQ(ledger.add(block, bytes, alignment), "");
            } else {
                support::block const gone = ledger.at(numbers.below(ledger.size()));
                ASSERT_EQ(ledger.remove(gone.at), "");
                subject.allocator.deallocate(gone.at, gone.bytes, gone.alignment);
            }
            if (round % 10 == 0) {
                this->expect_valid(subject);
            }
        }
        EXPECT_EQ(ledger.check_all(), "");
        subject.drop();
    });
}

TYPED_TEST(conforming, zero_bytes_are_a_block_of_their_own) {
    this->with_subject([&](TypeParam& subject) {
        support::ledger ledger;
        std::vector<void*> blocks;
        for (int count = 0; count < 100; ++count) {
            blocks.push_back(subject.allocator.allocate(0, 1));
            ASSERT_NE(blocks.back(), nullptr);
            ASSERT_EQ(ledger.add(blocks.back(), 0, 1), "");
        }
        for (; !blocks.empty(); blocks.pop_back()) {
            ASSERT_EQ(ledger.remove(blocks.back()), "");
            subject.allocator.deallocate(blocks.back(), 0, 1);
        }
        this->expect_valid(subject);
    });
}

TYPED_TEST(conforming, impossible_requests_are_refused) {
    if (support::under_sanitizer() && is_detoured<TypeParam>()) GTEST_SKIP() << "the sanitizer's malloc would end it";
    this->with_subject([&](TypeParam& subject) {
        support::ledger ledger;
        ASSERT_EQ(ledger.add(subject.allocator.allocate(10, 8), 10, 8), "");
        for (std::size_t bytes : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 64, std::size_t{PTRDIFF_MAX} + 1,
                                  std::size_t{PTRDIFF_MAX}, std::size_t{1} << 60}) {
            EXPECT_EQ(subject.allocator.allocate(bytes, 1), nullptr) << bytes;
            EXPECT_EQ(subject.allocator.allocate(bytes, TypeParam::most_alignment), nullptr) << bytes;
            this->expect_valid(subject);
        }
        EXPECT_EQ(ledger.check_all(), "");
        ASSERT_EQ(ledger.add(subject.allocator.allocate(10, 8), 10, 8), "");
        subject.drop();
    });
}

TYPED_TEST(conforming, a_refusal_at_the_nth_request_is_null_and_leaves_everything_as_it_was) {
    if (is_detoured<TypeParam>()) GTEST_SKIP() << "malloc does not refuse";
    for (std::size_t allowed = 0; allowed < 6; ++allowed) {
        this->failing_.allow(SIZE_MAX);
        this->with_subject([&](TypeParam& subject) {
            this->failing_.allow(allowed);
            support::ledger ledger;
            void* block = nullptr;
            std::size_t const bytes = std::min<std::size_t>(TypeParam::most_bytes, 50'000);
            // A pool's segment holds many blocks of 50 000 bytes; four requests for one are enough there.
            while ((block = subject.allocator.allocate(bytes, 16)) != nullptr && ledger.size() < 20'000)
                ASSERT_EQ(ledger.add(block, std::min<std::size_t>(bytes, 100), 16), "");
            if (block != nullptr) return subject.drop();
            std::size_t const held = this->counted_.live_bytes();
            EXPECT_EQ(subject.allocator.allocate(bytes, 16), nullptr);
            EXPECT_EQ(this->counted_.live_bytes(), held);
            EXPECT_EQ(ledger.check_all(), "");
            this->expect_valid(subject);
            this->failing_.allow(SIZE_MAX);
            ASSERT_EQ(ledger.add(subject.allocator.allocate(bytes, 16), 100, 16), "");
            EXPECT_EQ(ledger.check_all(), "");
            subject.drop();
        });
        EXPECT_EQ(this->counted_.live_blocks(), 0u);
    }
}

TYPED_TEST(conforming, its_own_blocks_are_known_and_others_are_not) {
    this->with_subject([&](TypeParam& subject) {
        int local = 0;
        if (knows_its_own<TypeParam>) {
            EXPECT_FALSE(this->owns(subject, &local));
            EXPECT_FALSE(this->owns(subject, nullptr));
        }
        for (int count = 0; count < 300; ++count) {
            std::size_t const bytes = TypeParam::most_bytes / 100 + 1;
            auto* const block = static_cast<unsigned char*>(subject.allocator.allocate(bytes, 8));
            EXPECT_TRUE(this->owns(subject, block));
            EXPECT_TRUE(this->owns(subject, block + bytes - 1)) << "its last byte too";
        }
        if (knows_its_own<TypeParam>) {
            EXPECT_FALSE(this->owns(subject, &local));
        }
        subject.drop();
    });
}

TYPED_TEST(conforming, the_newest_block_freed_and_taken_again_needs_no_more_memory) {
    this->with_subject([&](TypeParam& subject) {
        std::size_t const bytes = TypeParam::most_bytes / 100 + 1;
        std::size_t after_few = 0;
        for (int round = 0; round < 20'000; ++round) {
            void* const block = subject.allocator.allocate(bytes, 16);
            ASSERT_NE(block, nullptr);
            *static_cast<unsigned char*>(block) = 1;
            subject.allocator.deallocate(block, bytes, 16);
            if (round == 100) after_few = this->counted_.live_bytes();
        }
        EXPECT_LE(this->counted_.live_bytes(), after_few + 65'536 * 4);
        subject.drop();
    });
}

TYPED_TEST(conforming, dropping_everything_gives_everything_back_and_it_goes_on) {
    this->with_subject([&](TypeParam& subject) {
        for (int round = 0; round < 5; ++round) {
            support::ledger ledger;
            for (int count = 0; count < 500; ++count) {
                std::size_t const bytes = TypeParam::most_bytes / 50;
                ASSERT_EQ(ledger.add(subject.allocator.allocate(bytes, 16), bytes, 16), "");
            }
            EXPECT_EQ(ledger.check_all(), "");
            std::size_t const in_malloc = support::malloc_bytes();
            subject.drop();
            if (is_detoured<TypeParam>()) {
                EXPECT_LE(support::malloc_bytes() + 400 * (TypeParam::most_bytes / 50), in_malloc) << "freed again";
            }
            // A thread keeps the TempJob chunk that it is filling.
            EXPECT_LE(this->counted_.live_bytes(), 65'536u);
            this->expect_valid(subject);
        }
    });
}

TYPED_TEST(conforming, under_passthrough_malloc_serves_each_block) {
    if (!is_detoured<TypeParam>()) GTEST_SKIP() << "not under passthrough";
    this->with_subject([&](TypeParam& subject) {
        std::size_t const bytes = TypeParam::most_bytes / 10;
        std::size_t const before = support::malloc_bytes();
        for (int count = 0; count < 200; ++count) ASSERT_NE(subject.allocator.allocate(bytes, 16), nullptr);
        EXPECT_GE(support::malloc_bytes(), before + 200 * bytes);
        subject.drop();
        EXPECT_LE(support::malloc_bytes(), before + 20'000);
    });
}

}
