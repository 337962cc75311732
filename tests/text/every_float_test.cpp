// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// All of the 2^32 floats against printf. Half an hour of a processor, most of it printf; so it is disabled. To run it:
///
///     build/release/tests/text_test --gtest_also_run_disabled_tests --gtest_filter='*every_float*'
///
/// With TENURE_TEST_STRIDE=n only one in n.

#include <tenure/text/format.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "text/printed.hpp"

namespace {

/// Those of a part, with one sign: printf is asked once for both.
std::uint64_t wrong_floats(std::uint32_t begin, std::uint32_t end, std::uint32_t stride) {
    std::uint64_t wrong = 0;
    for (std::uint64_t bits = begin; bits < end; bits += stride) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        const text_tests::printed right(value, 2);
        char room[64], negative[64];
        const std::size_t size = tenure::format_fixed<2>(room, sizeof room, value);
        const std::size_t negative_size = tenure::format_fixed<2>(negative, sizeof negative, -value);
        const std::string_view behind_sign(negative + 1, negative_size - 1);
        wrong += std::string_view(room, size) != right.view() || negative[0] != '-' || behind_sign != right.view();
    }
    return wrong;
}

TEST(every_float, DISABLED_is_printed_as_printf_does) {
    const char* const given = std::getenv("TENURE_TEST_STRIDE");
    const auto stride = given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : 1u;
    constexpr std::uint32_t part = 1 << 20, all = 1u << 31; // without the sign
    std::atomic<std::uint32_t> next{0};
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()));
    for (std::thread& each : threads)
        each = std::thread([&] {
            for (std::uint32_t begin = 0; (begin = next.fetch_add(part)) < all;)
                wrong += wrong_floats(begin, begin + part, std::max(stride, 1u));
        });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(wrong, 0u);
}

}
