// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/sampling.hpp>

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace {

namespace sampling = tenure::detail::sampling;

class sampling_of_bytes : public testing::Test {
protected:
    void TearDown() override { sampling::set_mean(before_); }

private:
    std::uint64_t before_ = sampling::mean_bytes();
};

TEST_F(sampling_of_bytes, one_minus_exp_agrees_with_the_c_library) {
    for (double x = 1e-12; x < 2000; x *= 1.01) {
        const double wanted = -std::expm1(-x);
        ASSERT_NEAR(sampling::one_minus_exp(x) / wanted, 1, 1e-12) << x;
    }
    EXPECT_EQ(sampling::one_minus_exp(0), 0);
}

TEST_F(sampling_of_bytes, minus_log_agrees_with_the_c_library) {
    for (std::uint64_t u = 1; u < UINT64_MAX - UINT64_MAX / 8; u += u / 9 + 1) {
        const double wanted = 64 * std::log(2.0) - std::log(static_cast<double>(u));
        ASSERT_NEAR(sampling::minus_log(u), wanted, 1e-9) << u;
    }
    EXPECT_EQ(sampling::minus_log(0), 0);
    EXPECT_NEAR(sampling::minus_log(UINT64_MAX), 0, 1e-9);
    EXPECT_NEAR(sampling::minus_log(1), 64 * std::log(2.0), 1e-9);
}

// A gap of g has the probability (1 - p)^g p. Bounds of six standard errors: one run in 10^9 fails by chance.
TEST_F(sampling_of_bytes, gaps_are_geometric) {
    constexpr int draws = 200'000;
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{1000}, std::size_t{32768}}) {
        sampling::set_mean(8192);
        const double p = sampling::chance(bytes);
        double sum = 0;
        int zeros = 0;
        for (int each = 0; each < draws; ++each) {
            const std::uint32_t gap = sampling::draw_gap(bytes);
            sum += gap;
            zeros += gap == 0;
        }
        const double mean = (1 - p) / p, deviation = std::sqrt(1 - p) / p;
        EXPECT_NEAR(sum / draws, mean, 6 * deviation / std::sqrt(draws)) << bytes;
        EXPECT_NEAR(double(zeros) / draws, p, 6 * std::sqrt(p * (1 - p) / draws)) << bytes;
    }
}

TEST_F(sampling_of_bytes, single_draws_have_the_chance_that_is_said) {
    constexpr int draws = 200'000;
    sampling::set_mean(100'000);
    for (const std::uint64_t bytes : {std::uint64_t{100}, std::uint64_t{50'000}, std::uint64_t{400'000}}) {
        int drawn = 0;
        for (int each = 0; each < draws; ++each) drawn += sampling::draw(bytes);
        const double p = sampling::chance(bytes);
        EXPECT_NEAR(double(drawn) / draws, p, 6 * std::sqrt(p * (1 - p) / draws)) << bytes;
    }
}

TEST_F(sampling_of_bytes, the_extreme_means_are_served) {
    sampling::set_mean(1);
    EXPECT_EQ(sampling::chance(1000), 1);
    EXPECT_EQ(sampling::draw_gap(32768), 0u);
    EXPECT_TRUE(sampling::draw(1000));
    sampling::set_mean(sampling::max_mean_bytes);
    for (int each = 0; each < 1000; ++each) ASSERT_LE(sampling::draw_gap(8), std::uint32_t{1} << 31);
}

}
