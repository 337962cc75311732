// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What every allocator of this library promises, asked of each in the same words. Each test runs on a fresh thread,
// because Temp reads its budget once a thread.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/base/failing_source.hpp>
#include <tenure/base/options.hpp>

#include "conformance/subjects.hpp"
#include "support/ledger.hpp"
#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using namespace conformance;

class conforming : public testing::TestWithParam<kind> {
protected:
    conforming() { tenure::set_option(tenure::option::temp_budget_bytes, 4096); }
    ~conforming() override { EXPECT_EQ(counted_.live_blocks(), 0u) << "all goes back to the source"; }

    /// Runs `work(subject)` and looks at the end that everything went back.
    template<class Work>
    void with_subject(Work work) {
        support::on_fresh_thread([&] {
            const std::unique_ptr<any_subject> subject = GetParam().make(failing_);
            work(*subject);
            if (GetParam().is_passthrough()) {
                EXPECT_EQ(counted_.requests(), 0u) << "nothing comes from the source";
            }
        });
        tenure::temp_job::trim();
    }

    static std::size_t max_bytes() { return GetParam().max_bytes; }
    static std::size_t max_alignment() { return GetParam().max_alignment; }

    tenure::counting_source counted_{tenure::page_source::process()};
    tenure::failing_source failing_{counted_, SIZE_MAX};
};

INSTANTIATE_TEST_SUITE_P(every, conforming, testing::ValuesIn(every_kind()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(conforming, every_alignment_is_kept) {
    with_subject([&](any_subject& subject) {
        support::ledger ledger;
        for (int round = 0; round < 20; ++round) {
            for (std::size_t alignment = 1; alignment <= max_alignment(); alignment *= 2) {
                for (std::size_t bytes : {std::size_t{1}, std::size_t{24}, max_bytes() / 100 + 1}) {
                    void* const block = subject.allocate(bytes, alignment);
                    ASSERT_NE(block, nullptr) << bytes << " bytes aligned to " << alignment;
                    ASSERT_EQ(ledger.add(block, bytes, alignment), "");
                    ASSERT_TRUE(subject.valid());
                }
            }
        }
        EXPECT_EQ(ledger.check_all(), "");
        subject.drop();
    });
}

TEST_P(conforming, no_two_blocks_overlap_and_contents_are_kept_whatever_is_freed) {
    with_subject([&](any_subject& subject) {
        support::random numbers(support::new_seed());
        support::ledger ledger;
        for (int round = 0; round < 1500; ++round) {
            if (numbers.below(5) < 3 || ledger.empty()) {
                const std::size_t most = numbers.one_in(30) ? max_bytes() : max_bytes() / 100 + 8;
                const std::size_t bytes = numbers.below(std::min(most, max_bytes())) + 1;
                std::size_t alignment = std::size_t{1} << numbers.below(13);
                alignment = std::min(alignment, max_alignment());
                void* const block = subject.allocate(bytes, alignment);
                ASSERT_NE(block, nullptr);
                ASSERT_EQ(ledger.add(block, bytes, alignment), "");
            } else {
                const support::block gone = ledger.at(numbers.below(ledger.size()));
                ASSERT_EQ(ledger.remove(gone.at), "");
                subject.deallocate(gone.at, gone.bytes, gone.alignment);
            }
            if (round % 10 == 0) {
                ASSERT_TRUE(subject.valid());
            }
        }
        EXPECT_EQ(ledger.check_all(), "");
        subject.drop();
    });
}

TEST_P(conforming, zero_bytes_are_a_block_of_their_own) {
    with_subject([&](any_subject& subject) {
        support::ledger ledger;
        std::vector<void*> blocks;
        for (int count = 0; count < 100; ++count) {
            blocks.push_back(subject.allocate(0, 1));
            ASSERT_NE(blocks.back(), nullptr);
            ASSERT_EQ(ledger.add(blocks.back(), 0, 1), "");
        }
        for (; !blocks.empty(); blocks.pop_back()) {
            ASSERT_EQ(ledger.remove(blocks.back()), "");
            subject.deallocate(blocks.back(), 0, 1);
        }
        ASSERT_TRUE(subject.valid());
    });
}

TEST_P(conforming, impossible_requests_are_refused) {
    if (support::under_sanitizer() && GetParam().is_passthrough())
        GTEST_SKIP() << "the sanitizer's malloc would end it";
    with_subject([&](any_subject& subject) {
        support::ledger ledger;
        ASSERT_EQ(ledger.add(subject.allocate(10, 8), 10, 8), "");
        for (std::size_t bytes : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 64, std::size_t{PTRDIFF_MAX} + 1,
                                  std::size_t{PTRDIFF_MAX}, std::size_t{1} << 60}) {
            EXPECT_EQ(subject.allocate(bytes, 1), nullptr) << bytes;
            EXPECT_EQ(subject.allocate(bytes, max_alignment()), nullptr) << bytes;
            ASSERT_TRUE(subject.valid());
        }
        EXPECT_EQ(ledger.check_all(), "");
        ASSERT_EQ(ledger.add(subject.allocate(10, 8), 10, 8), "");
        subject.drop();
    });
}

TEST_P(conforming, a_refusal_at_the_nth_request_is_null_and_leaves_everything_as_it_was) {
    if (GetParam().is_passthrough()) GTEST_SKIP() << "malloc does not refuse";
    if (GetParam().which == tenure::part::temp_job) GTEST_SKIP() << "it overflows into the process heap";
    // A guarded block has pages of its own, which no source refuses.
    const std::uint64_t guard_sample = tenure::option_value(tenure::option::heap_guard_sample);
    tenure::set_option(tenure::option::heap_guard_sample, 0);
    for (std::size_t allowed = 0; allowed < 6; ++allowed) {
        failing_.allow(SIZE_MAX);
        with_subject([&](any_subject& subject) {
            failing_.allow(allowed);
            support::ledger ledger;
            void* block = nullptr;
            const std::size_t bytes = std::min<std::size_t>(max_bytes(), 50'000);
            // A pool's segment holds many blocks of 50 000 bytes; four requests for one are enough there.
            while ((block = subject.allocate(bytes, 16)) != nullptr && ledger.size() < 20'000)
                ASSERT_EQ(ledger.add(block, std::min<std::size_t>(bytes, 100), 16), "");
            if (block != nullptr) return subject.drop();
            const std::size_t held = counted_.live_bytes();
            EXPECT_EQ(subject.allocate(bytes, 16), nullptr);
            EXPECT_EQ(counted_.live_bytes(), held);
            EXPECT_EQ(ledger.check_all(), "");
            ASSERT_TRUE(subject.valid());
            failing_.allow(SIZE_MAX);
            ASSERT_EQ(ledger.add(subject.allocate(bytes, 16), 100, 16), "");
            EXPECT_EQ(ledger.check_all(), "");
            subject.drop();
        });
        EXPECT_EQ(counted_.live_blocks(), 0u);
    }
    tenure::set_option(tenure::option::heap_guard_sample, guard_sample);
}

TEST_P(conforming, its_own_blocks_are_known_and_others_are_not) {
    with_subject([&](any_subject& subject) {
        int local = 0;
        if (GetParam().knows_its_own) {
            EXPECT_FALSE(subject.owns(&local));
            EXPECT_FALSE(subject.owns(nullptr));
        }
        for (int count = 0; count < 300; ++count) {
            const std::size_t bytes = max_bytes() / 100 + 1;
            auto* const block = static_cast<unsigned char*>(subject.allocate(bytes, 8));
            EXPECT_TRUE(subject.owns(block));
            EXPECT_TRUE(subject.owns(block + bytes - 1)) << "its last byte too";
        }
        if (GetParam().knows_its_own) {
            EXPECT_FALSE(subject.owns(&local));
        }
        subject.drop();
    });
}

TEST_P(conforming, the_newest_block_freed_and_taken_again_needs_no_more_memory) {
    with_subject([&](any_subject& subject) {
        const std::size_t bytes = max_bytes() / 100 + 1;
        std::size_t after_few = 0;
        for (int round = 0; round < 20'000; ++round) {
            void* const block = subject.allocate(bytes, 16);
            ASSERT_NE(block, nullptr);
            *static_cast<unsigned char*>(block) = 1;
            subject.deallocate(block, bytes, 16);
            if (round == 100) after_few = counted_.live_bytes();
        }
        EXPECT_LE(counted_.live_bytes(), after_few + 65'536 * 4);
        subject.drop();
    });
}

TEST_P(conforming, dropping_everything_gives_everything_back_and_it_goes_on) {
    with_subject([&](any_subject& subject) {
        for (int round = 0; round < 5; ++round) {
            support::ledger ledger;
            for (int count = 0; count < 500; ++count) {
                const std::size_t bytes = max_bytes() / 50;
                ASSERT_EQ(ledger.add(subject.allocate(bytes, 16), bytes, 16), "");
            }
            EXPECT_EQ(ledger.check_all(), "");
            const std::size_t in_malloc = support::malloc_bytes();
            subject.drop();
            if (GetParam().is_passthrough() && support::malloc_is_counted) {
                EXPECT_LE(support::malloc_bytes() + 400 * (max_bytes() / 50), in_malloc) << "freed again";
            }
            // A thread keeps the TempJob chunk that it is filling.
            EXPECT_LE(counted_.live_bytes(), 65'536u);
            ASSERT_TRUE(subject.valid());
        }
    });
}

TEST_P(conforming, under_passthrough_malloc_serves_each_block) {
    if (!GetParam().is_passthrough()) GTEST_SKIP() << "not under passthrough";
    with_subject([&](any_subject& subject) {
        const std::size_t bytes = max_bytes() / 10;
        const std::size_t before = support::malloc_bytes();
        for (int count = 0; count < 200; ++count) ASSERT_NE(subject.allocate(bytes, 16), nullptr);
        const std::size_t full = support::malloc_bytes();
        if (support::malloc_is_counted) {
            EXPECT_GE(full, before + 200 * bytes);
        }
        subject.drop();
        EXPECT_LE(support::malloc_bytes(), before + (full - before) / 10); // malloc keeps some for the thread
    });
}

}
