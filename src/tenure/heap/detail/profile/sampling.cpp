// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/sampling.hpp>

#include <algorithm>
#include <atomic>
#include <bit>

#include <tenure/heap/detail/guarded/sample_schedule.hpp>

namespace tenure::inline TENURE_ABI::detail::sampling {

constinit atomic<std::uint64_t> mean{std::uint64_t{512} * 1024}; // relaxed: see the header

namespace {

constexpr double ln_2 = 0.693'147'180'559'945'309'42;

/// 2^-k. Requires  k <= 1022.
[[nodiscard]] double power_of_half(std::uint64_t k) noexcept {
    constexpr int exponent_shift = 52;
    return std::bit_cast<double>((1023 - k) << exponent_shift);
}

/// An exponentially distributed number with mean one.
[[nodiscard]] double draw_exponential() noexcept { return minus_log(sample_schedule::random()); }

}

double one_minus_exp(double x) noexcept {
    constexpr double certain_from = 700;
    constexpr double small_below = 1.0 / 16;
    if (x >= certain_from) return 1;
    if (x < small_below) // of the series, the terms that a double of this size can show
        return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7 * (1 - x / 8)))))));
    const auto halvings = static_cast<std::uint64_t>(x / ln_2);
    const double rest = x - static_cast<double>(halvings) * ln_2; // of [0, ln 2)
    double series = 1;
    for (int term = 16; term >= 1; --term) series = 1 - rest / term * series;
    return 1 - series * power_of_half(halvings);
}

double minus_log(std::uint64_t u) noexcept {
    if (u == 0) return 0;
    const auto halvings = static_cast<std::uint64_t>(std::countl_zero(u)) + 1;
    constexpr int mantissa_bits = 52;
    constexpr std::uint64_t one = std::uint64_t{0x3FF} << mantissa_bits;
    const std::uint64_t fraction = u << (halvings - 1) << 1 >> (64 - mantissa_bits);
    const double m = std::bit_cast<double>(one | fraction); // u = m 2^-halvings, and m is of [1, 2)
    const double t = (m - 1) / (m + 1);
    const double square = t * t;
    double series = 0; // ln m = 2 artanh t
    for (int odd = 19; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
    return static_cast<double>(halvings) * ln_2 - 2 * t * series;
}

void set_mean(std::uint64_t bytes) noexcept { mean.store(bytes, std::memory_order_relaxed); }
std::uint64_t mean_bytes() noexcept { return mean.load(std::memory_order_relaxed); }

double chance(std::uint64_t bytes) noexcept {
    return one_minus_exp(static_cast<double>(bytes) / static_cast<double>(mean_bytes()));
}

bool draw(std::uint64_t bytes) noexcept {
    return draw_exponential() < static_cast<double>(bytes) / static_cast<double>(mean_bytes());
}

std::uint32_t draw_gap(std::size_t bytes) noexcept {
    constexpr double most = std::uint32_t{1} << 31;
    const double gap = draw_exponential() * static_cast<double>(mean_bytes()) / static_cast<double>(bytes);
    return static_cast<std::uint32_t>(std::min(gap, most));
}

}
