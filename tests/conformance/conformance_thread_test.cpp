// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// What those that any thread may use promise to many threads at once, with and without passthrough.

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/counting_source.hpp>
#include <tenure/pool/small_object.hpp>

#include "conformance/subjects.hpp"
#include "support/again.hpp"
#include "support/process.hpp"
#include "support/random.hpp"

namespace {

using namespace conformance;

constexpr int thread_count = 4;

std::vector<kind> shared_kinds() {
    std::vector<kind> found;
    for (const kind& each : every_kind()) {
        const std::string name = each.name;
        if (name.find("shared") != name.npos || name.find("temp_job") != name.npos) found.push_back(each);
    }
    return found;
}

struct message {
    unsigned char* at;
    std::size_t bytes;
};

class shared_conforming : public testing::TestWithParam<kind> {};

INSTANTIATE_TEST_SUITE_P(every, shared_conforming, testing::ValuesIn(shared_kinds()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(shared_conforming, blocks_keep_their_contents_on_their_way_between_threads) {
    tenure::counting_source counted(tenure::page_source::process());
    {
        const std::unique_ptr<any_subject> subject = GetParam().make(counted);
        std::mutex mutex;
        std::deque<message> on_their_way;
        std::vector<std::thread> threads;
        for (int index = 0; index < thread_count; ++index) {
            threads.emplace_back([&, index] {
                support::random numbers(static_cast<std::uint64_t>(index) + 7);
                for (int round = 0; round < 3000; ++round) {
                    const std::size_t bytes = numbers.below(GetParam().max_bytes / 50 + 20) + 1;
                    auto* const block = static_cast<unsigned char*>(subject->allocate(bytes, 16));
                    ASSERT_NE(block, nullptr);
                    std::memset(block, static_cast<int>(bytes), bytes);
                    message received{};
                    {
                        const std::lock_guard lock(mutex);
                        on_their_way.push_back({block, bytes});
                        if (on_their_way.size() < 40) continue;
                        received = on_their_way.front();
                        on_their_way.pop_front();
                    }
                    for (std::size_t byte = 0; byte < received.bytes; ++byte)
                        ASSERT_EQ(received.at[byte], static_cast<unsigned char>(received.bytes));
                    subject->deallocate(received.at, received.bytes, 16);
                }
            });
        }
        for (std::thread& each : threads) each.join();
        EXPECT_TRUE(subject->valid());
        for (const message& each : on_their_way) subject->deallocate(each.at, each.bytes, 16);
        EXPECT_TRUE(subject->valid());
        subject->drop();
    }
    EXPECT_EQ(counted.live_blocks(), 0u);
}

TEST(shared_conforming_object, small_objects_are_made_and_deleted_by_many_threads) {
    struct object : tenure::small_object {
        std::array<unsigned char, 50> bytes;
    };
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back([own = static_cast<unsigned char>(index + 1)] {
            std::vector<std::unique_ptr<object>> made;
            for (int round = 0; round < 20; ++round) {
                for (int count = 0; count < 100; ++count) made.emplace_back(new object)->bytes.fill(own);
                for (const auto& each : made) {
                    for (const unsigned char byte : each->bytes) ASSERT_EQ(byte, own);
                }
                made.resize(50);
            }
        });
    }
    for (std::thread& each : threads) each.join();
}

class passthrough : public testing::TestWithParam<const char*> {};

TEST_P(passthrough, the_same_promises_hold_among_threads) {
    // There a run takes minutes, and "all" has the others.
    if ((support::under_thread_sanitizer() || tenure::checks::caller) && GetParam() != std::string_view("all"))
        GTEST_SKIP() << "all at once";
    const support::outcome seen = support::run_again({{"TENURE_PASSTHROUGH", GetParam()}}, "-*passthrough.*");
    EXPECT_EQ(seen.status, 0) << seen.output;
}

INSTANTIATE_TEST_SUITE_P(parts, passthrough, testing::Values("all", "pool", "affinity"));

}
