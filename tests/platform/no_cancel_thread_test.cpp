// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/no_cancel.hpp>

#include <pthread.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include <tenure/base/host.hpp>
#include <tenure/base/report.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/file_map.hpp>
#include <tenure/platform/file_source.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/program.hpp>

#include "support/own_path.hpp"

namespace {

namespace platform = tenure::platform;

/// Calls `work` on a thread that is cancelled already. Returns   whether the thread came back from it and was cancelled
/// afterwards: a cancellation within would end the process, because nothing in the library may be unwound.
template<class Work>
[[nodiscard]] bool is_finished_before_the_cancellation(Work work) {
    struct task {
        Work work;
        bool is_done = false;
    } one{work};
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        task& mine = *static_cast<task*>(argument);
        ::pthread_cancel(::pthread_self());
        mine.work();
        mine.is_done = true;
        ::pthread_testcancel();
        return nullptr;
    };
    if (::pthread_create(&thread, nullptr, run, &one) != 0) return false;
    void* ended_by = nullptr;
    ::pthread_join(thread, &ended_by);
    return one.is_done && ended_by == PTHREAD_CANCELED;
}

TEST(no_cancel, a_thread_that_is_cancelled_waits_to_its_end) {
    EXPECT_TRUE(is_finished_before_the_cancellation([] { platform::sleep_ns(1000); }));
}

TEST(no_cancel, a_thread_that_is_cancelled_writes_its_report) {
    testing::internal::CaptureStderr();
    EXPECT_TRUE(is_finished_before_the_cancellation(
        [] { tenure::report(tenure::report_kind::notice, "of a thread that is cancelled"); }));
    static platform::kept_file copy;
    EXPECT_TRUE(is_finished_before_the_cancellation([] {
        copy = platform::copy_of_standard_error();
        platform::write_to(copy, "to a copy\n");
    }));
    ::close(copy.number);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, "tenure: of a thread that is cancelled\nto a copy\n");
}

TEST(no_cancel, a_thread_that_is_cancelled_reads_how_much_is_resident) {
    EXPECT_TRUE(is_finished_before_the_cancellation([] { EXPECT_NE(platform::resident_bytes(), 0u); }));
    EXPECT_TRUE(is_finished_before_the_cancellation([] { EXPECT_NE(platform::peak_resident_bytes(), 0u); }));
    EXPECT_TRUE(is_finished_before_the_cancellation([] { platform::reset_peak_resident(); }));
}

TEST(no_cancel, a_thread_that_is_cancelled_maps_a_file_and_gives_it_back) {
    static const std::string path = support::own_path("cancelled");
    EXPECT_TRUE(is_finished_before_the_cancellation([] {
        const platform::mapped_file file(path.c_str(), 4096);
        EXPECT_NE(file.memory(), nullptr);
    }));
    EXPECT_TRUE(is_finished_before_the_cancellation([] {
        const platform::mapped_file file(nullptr, 4096);
        EXPECT_NE(file.memory(), nullptr);
    }));
    EXPECT_TRUE(is_finished_before_the_cancellation([] {
        tenure::file_source source(path.c_str());
        void* const block = source.acquire(4096, 64);
        EXPECT_NE(block, nullptr);
        source.release(block, 4096);
    }));
}

}
