// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <gtest/gtest.h>

#include <tenure/platform/memory.hpp>

namespace {

using tenure::platform::is_readable;
using tenure::platform::text_or;

/// Two pages; the second cannot be read.
class half_readable : public testing::Test {
protected:
    half_readable() : page_bytes_(tenure::platform::page_bytes()) {
        bytes_ = static_cast<char*>(
            ::mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        end_ = bytes_ + page_bytes_;
        ::mprotect(end_, page_bytes_, PROT_NONE);
    }
    ~half_readable() override { ::munmap(bytes_, 2 * page_bytes_); }

    std::size_t page_bytes_;
    char* bytes_;
    char* end_; // of what can be read
};

TEST_F(half_readable, memory_is_readable_up_to_the_page_that_is_not) {
    EXPECT_TRUE(is_readable(bytes_, page_bytes_));
    EXPECT_TRUE(is_readable(end_ - 1, 1));
    EXPECT_TRUE(is_readable(end_, 0));
    EXPECT_FALSE(is_readable(end_ - 1, 2));
    EXPECT_FALSE(is_readable(bytes_, page_bytes_ + 1));
    EXPECT_FALSE(is_readable(end_, 1));
    EXPECT_FALSE(is_readable(nullptr, 1));
    EXPECT_FALSE(is_readable(bytes_, SIZE_MAX));
}

TEST_F(half_readable, the_question_preserves_errno) {
    errno = 42;
    EXPECT_FALSE(is_readable(end_, 1));
    EXPECT_TRUE(is_readable(bytes_, 1));
    EXPECT_EQ(errno, 42);
}

TEST_F(half_readable, text_is_read_up_to_its_zero) {
    std::memset(bytes_, 'x', page_bytes_);
    EXPECT_EQ(text_or(end_ - 3, "none"), "none");
    EXPECT_EQ(text_or(std::string_view{end_ - 3, 3}, "none"), "xxx");
    EXPECT_EQ(text_or(std::string_view{end_ - 3, 4}, "none"), "none");
    end_[-1] = '\0';
    EXPECT_EQ(text_or(end_ - 3, "none"), "xx");
    EXPECT_EQ(text_or(end_, "none"), "none");
}

// Under a filter of system calls, in a child process: a filter stays.

constexpr int no_filters = 77;

/// From now on the system refuses the call that asks about memory, with this error; 0 is a success.
void refuse_the_question(std::uint32_t error) {
    ::sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(::seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const ::sock_fprog filter{std::size(program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        ::_exit(no_filters);
}

bool is_good_or_has_no_filters(int status) {
    return testing::ExitedWithCode(0)(status) || testing::ExitedWithCode(no_filters)(status);
}

class filtered : public half_readable, public testing::WithParamInterface<int> {};

TEST_P(filtered, good_memory_is_readable_whatever_a_filter_of_system_calls_answers) {
    const auto look = [&] {
        std::memset(bytes_, 'x', page_bytes_);
        end_[-1] = '\0';
        EXPECT_FALSE(is_readable(end_, 1)); // also before the filter
        refuse_the_question(static_cast<std::uint32_t>(GetParam()));
        errno = 42;
        const bool is_good = is_readable(bytes_, page_bytes_) && is_readable(this, sizeof *this) &&
                             text_or(end_ - 3, "none") == "xx" && !is_readable(nullptr, 1) && errno == 42;
        ::_exit(is_good ? 0 : 1);
    };
    EXPECT_EXIT(look(), is_good_or_has_no_filters, "^$");
}

INSTANTIATE_TEST_SUITE_P(answers, filtered, testing::Values(EPERM, ENOSYS, EACCES, EFAULT, 0));

}
