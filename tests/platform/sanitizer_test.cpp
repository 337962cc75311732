// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/sanitizer.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

#include <tenure/platform/memory.hpp>

#include "support/process.hpp"

namespace {

namespace platform = tenure::platform;

class sanitizer : public testing::Test {
protected:
    alignas(64) unsigned char bytes_[256] = {};
};

TEST_F(sanitizer, what_is_freed_is_filled) {
    platform::poison_freed(bytes_ + 64, 64);
    platform::unpoison(bytes_, sizeof bytes_);
    EXPECT_EQ(bytes_[63], 0);
    EXPECT_EQ(bytes_[64], tenure::freed_fill);
    EXPECT_EQ(bytes_[127], tenure::freed_fill);
    EXPECT_EQ(bytes_[128], 0);
}

TEST_F(sanitizer, what_is_partly_poisoned_can_be_freed) {
    platform::poison(bytes_ + 32, 16);
    platform::poison_freed(bytes_, 128);
    platform::poison_freed(bytes_, 256);
    platform::unpoison(bytes_, sizeof bytes_);
    EXPECT_EQ(bytes_[40], tenure::freed_fill);
    EXPECT_EQ(bytes_[255], tenure::freed_fill);
}

TEST_F(sanitizer, poisoned_bytes_may_not_be_touched_until_they_are_given_again) {
    if (!support::under_address_sanitizer()) GTEST_SKIP() << "AddressSanitizer is not in this process";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto* const bytes = static_cast<volatile unsigned char*>(bytes_);
    platform::poison(bytes_ + 64, 64);
    EXPECT_DEATH(bytes[64] = 1, "use-after-poison");
    EXPECT_DEATH(bytes[127] = 1, "use-after-poison");
    bytes[63] = 1;
    bytes[128] = 1;
    platform::unpoison(bytes_ + 64, 64);
    bytes[64] = 1;
}

TEST_F(sanitizer, a_leak_root_keeps_what_it_points_to_from_being_a_leak) {
    if (&__lsan_do_recoverable_leak_check == nullptr) GTEST_SKIP() << "LeakSanitizer is not in this process";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    // The only pointer lies, as with an allocator's blocks, in memory that the sanitizer does not know.
    EXPECT_EXIT(
        {
            void* const hidden = platform::map(4096, 4096);
            platform::add_leak_root(hidden, 4096);
            auto** const pointers = static_cast<void**>(hidden);
            for (int index = 0; index < 50; ++index) pointers[index] = std::malloc(100);
            const bool found_with = __lsan_do_recoverable_leak_check() != 0;
            platform::remove_leak_root(hidden, 4096);
            const bool found_without = __lsan_do_recoverable_leak_check() != 0;
            std::_Exit(found_with || !found_without ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

}
