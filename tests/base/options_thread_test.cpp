// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>

namespace {

constexpr int thread_count = 8;

template<class Work>
void on_many_threads(Work work) {
    std::atomic<int> waiting{thread_count};
    std::vector<std::thread> threads;
    for (int index = 0; index < thread_count; ++index) {
        threads.emplace_back([&, index] {
            --waiting;
            while (waiting != 0) std::this_thread::yield();
            work(index);
        });
    }
    for (std::thread& each : threads) each.join();
}

TEST(options_threads, many_threads_may_ask_first_and_set_meanwhile) {
    on_many_threads([](int index) {
        for (int round = 0; round < 200; ++round) {
            EXPECT_GE(tenure::option_value(tenure::option::temp_budget_bytes), 4096u);
            if (index == 0) {
                EXPECT_TRUE(tenure::set_option(tenure::option::temp_job_frames, 1u + static_cast<unsigned>(round) % 7));
            }
            EXPECT_LE(tenure::option_value(tenure::option::temp_job_frames), 1000u);
            static_cast<void>(tenure::option_source(tenure::option::temp_job_frames));
        }
    });
    tenure::set_option(tenure::option::temp_job_frames, 4);
}

TEST(tag_threads, the_same_names_made_by_many_threads_at_once_are_the_same_tags) {
    std::vector<std::vector<tenure::tag>> made(thread_count);
    on_many_threads([&](int index) {
        for (int number = 0; number < 300; ++number) {
            const std::string name = "shared name " + std::to_string(number);
            const tenure::tag_scope scope(name);
            EXPECT_EQ(tenure::current_tag().name(), name);
            made[static_cast<std::size_t>(index)].push_back(tenure::current_tag());
        }
    });
    for (const auto& each : made) EXPECT_EQ(each, made.front());
}

TEST(report_threads, handlers_may_change_while_others_report) {
    static std::atomic<int> heard{0};
    const tenure::report_handler first = [](tenure::report_kind, std::string_view) noexcept { ++heard; };
    const tenure::report_handler second = [](tenure::report_kind, std::string_view) noexcept { ++heard; };
    tenure::set_report_handler(first);
    on_many_threads([&](int index) {
        for (int round = 0; round < 100; ++round) {
            if (index == 0) tenure::set_report_handler(round % 2 == 0 ? second : first);
            tenure::report(tenure::report_kind::notice, "a word");
        }
    });
    tenure::set_report_handler(nullptr);
    EXPECT_EQ(heard, thread_count * 100);
}

}
