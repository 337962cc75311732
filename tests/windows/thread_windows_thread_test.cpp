// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Thread-local variables and the ends of threads, whoever starts them.

#include <windows.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/base/align.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/platform/thread.hpp>

#include "support/again.hpp"

namespace {

std::atomic<int> ends{0};
void count_end() noexcept { ++ends; }

/// Runs `work` on a thread that neither the C library nor the C++ library knows.
template<class Work>
void on_system_thread(Work work) {
    const HANDLE thread = ::CreateThread(
        nullptr, 0,
        [](void* context) -> DWORD {
            (*static_cast<Work*>(context))();
            return 0;
        },
        &work, 0, nullptr);
    ASSERT_NE(thread, nullptr);
    ::WaitForSingleObject(thread, INFINITE);
    ::CloseHandle(thread);
}

TEST(thread_copies, are_aligned_and_differ_and_begin_as_declared) {
    const auto* const mine = &tenure::detail::this_thread();
    EXPECT_TRUE(tenure::is_aligned(mine, alignof(tenure::detail::thread_lifetimes)));
    on_system_thread([mine] {
        const auto& other = tenure::detail::this_thread();
        EXPECT_TRUE(tenure::is_aligned(&other, alignof(tenure::detail::thread_lifetimes)));
        EXPECT_NE(&other, mine);
        EXPECT_EQ(other.job, &tenure::detail::no_job_front);
        EXPECT_EQ(other.temp_limit, 0u);
    });
}

TEST(thread_ends, are_told_on_threads_of_the_system) {
    const int before = ends;
    on_system_thread([] { EXPECT_TRUE(tenure::platform::at_thread_end(&count_end)); });
    EXPECT_EQ(ends, before + 1);
    std::thread([] { EXPECT_TRUE(tenure::platform::at_thread_end(&count_end)); }).join();
    EXPECT_EQ(ends, before + 2);
}

TEST(thread_ends, are_told_when_the_system_has_no_slot_for_them) {
    constexpr char again[] = "TENURE_TEST_AGAIN"; // in a process of its own, in which the library has no slot yet
    if (std::getenv(again) == nullptr) {
        const support::outcome seen =
            support::run_again({{again, "1"}}, "thread_ends.are_told_when_the_system_has_no_slot_for_them");
        EXPECT_EQ(seen.status, 0) << seen.output;
        return;
    }
    while (::FlsAlloc(nullptr) != FLS_OUT_OF_INDEXES) {}
    on_system_thread([] { EXPECT_TRUE(tenure::platform::at_thread_end(&count_end)); });
    EXPECT_EQ(ends, 1);
}

TEST(thread_ends, a_thread_that_does_not_use_the_library_has_no_copy_and_no_end) {
    const int before = ends;
    on_system_thread([] {});
    EXPECT_EQ(ends, before);
}

TEST(thread_ends, caches_and_temp_of_ended_threads_are_used_again) {
    tenure::heap own;
    const auto work = [&own] {
        std::vector<void*> blocks;
        for (int each = 0; each < 1000; ++each) blocks.push_back(own.allocate(64));
        for (void* each : blocks) own.deallocate(each);
        const tenure::temp_scope scope;
        EXPECT_NE(tenure::temp::allocate(100), nullptr);
    };
    on_system_thread(work);
    const std::size_t after_one = own.stats().reserved_bytes;
    for (int each = 0; each < 30; ++each) on_system_thread(work);
    EXPECT_EQ(own.stats().reserved_bytes, after_one);
    EXPECT_LE(own.usage().thread_count, 1u) << "no cache of an ended thread is left";
}

TEST(thread_ends, a_deleted_fiber_of_a_thread_that_goes_on_is_no_end) {
    const int before = ends;
    on_system_thread([before] {
        void* const first = ::ConvertThreadToFiber(nullptr);
        static void* main_fiber;
        main_fiber = first;
        void* const second = ::CreateFiber(
            0,
            [](void*) {
                EXPECT_TRUE(tenure::platform::at_thread_end(&count_end));
                ::SwitchToFiber(main_fiber);
            },
            nullptr);
        ::SwitchToFiber(second);
        ::DeleteFiber(second);
        EXPECT_EQ(ends, before) << "the thread goes on";
        ::ConvertFiberToThread();
    });
    EXPECT_EQ(ends, before + 1) << "told when the thread has ended";
}

/// GCC frees thread_local objects before it calls their destructors, so this one has no members.
struct last_user {
    last_user() noexcept {} // NOLINT: makes it an object that has to be destroyed
    ~last_user() { EXPECT_NE(tenure::heap::process().allocate(24), nullptr); }
    void use() noexcept {}
};

TEST(thread_ends, a_destructor_of_a_thread_local_object_may_use_the_library) {
    for (int each = 0; each < 20; ++each) {
        std::thread([] {
            thread_local last_user user;
            user.use();
            tenure::heap::process().deallocate(tenure::heap::process().allocate(24));
        }).join();
    }
    EXPECT_LE(tenure::heap::process().usage().thread_count, 2u);
}

TEST(error_code, of_the_system_is_kept_by_the_first_use_in_a_thread) {
    on_system_thread([] {
        ::SetLastError(4711);
        tenure::heap::process().deallocate(tenure::heap::process().allocate(100));
        EXPECT_EQ(::GetLastError(), DWORD{4711});
    });
}

}
