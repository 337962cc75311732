// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <signal.h>

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tenure/text/format_printf.hpp>

#include "text/counted_malloc.hpp"

namespace {

char text[20'000];

void print_doubles() {
    tenure::format_printf(text, sizeof text, "%.1100f%.1100e%.1100g%a", 5e-324, 1.7e308, 0.1, 0.1);
    tenure::format_printf(text, sizeof text, "%d%s%ls%5000d", 1, "text", L"text", 1);
}

void print_long_doubles() {
    using limits = std::numeric_limits<long double>;
    tenure::format_printf(text, sizeof text, "%.16445Lf", limits::denorm_min());
    tenure::format_printf(text, sizeof text, "%.16445Le", limits::min());
    tenure::format_printf(text, sizeof text, "%.16445Lg%La", limits::max(), 0.1L);
}

void (*called_by_signal)() = nullptr;

/// Bytes that are touched of the stack of a signal handler that calls the function.
std::size_t stack_of_handler(void (*function)()) {
    constexpr unsigned char paint = 0xA5;
    std::vector<unsigned char> stack(256 * 1024, paint);
    const stack_t painted{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    stack_t stack_before{};
    struct sigaction wanted {
    }, before{};
    wanted.sa_flags = SA_ONSTACK;
    wanted.sa_handler = [](int) { called_by_signal(); };
    called_by_signal = function;
    EXPECT_EQ(::sigaltstack(&painted, &stack_before), 0);
    ::sigaction(SIGUSR1, &wanted, &before);
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
    ::sigaltstack(&stack_before, nullptr);
    std::size_t untouched = 0;
    while (untouched < stack.size() && stack[untouched] == paint) ++untouched;
    return stack.size() - untouched;
}

/// Bytes of the stack that a function touches.
std::size_t stack_of(void (*function)()) {
    return stack_of_handler(function) - stack_of_handler([] {});
}

TEST(printf_stack, is_bounded) {
    if (!text_tests::malloc_calls().has_value()) GTEST_SKIP() << "a sanitizer enlarges the stack";
    print_doubles(); // the dynamic linker binds functions at their first call, on the caller's stack
    print_long_doubles();
    EXPECT_GE(stack_of(print_doubles), 256u) << "nothing was measured";
    EXPECT_LE(stack_of(print_doubles), 3u * 1024);
    EXPECT_LE(stack_of(print_long_doubles), 16u * 1024);
}

}
