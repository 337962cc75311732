// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Blocks whose sizes and stacks are known exactly are sampled many times, as the heap samples. The corrected estimates
// must be right on average, and as wrong as they say.

#include "observe/profile/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profile/sample_profile.hpp"
#include "support/random.hpp"

namespace tenure::lab {

namespace {

namespace format = profile_format;

constexpr std::uint64_t mean_bytes = 512 * 1024, max_small = 32'768;

/// Blocks of one size of one stack.
struct held {
    std::size_t stack;
    std::uint64_t block_bytes;
    std::size_t count;
};

/// Blocks of one size of before the profile.
struct held_before {
    std::uint64_t block_bytes;
    std::size_t count;
    std::size_t freed; ///< since
};

struct model {
    explicit model(std::vector<held> blocks_held, std::vector<held_before> held_before_it = {})
        : blocks(std::move(blocks_held)), before(std::move(held_before_it)) {}

    [[nodiscard]] static std::uint64_t class_of(std::uint64_t bytes) { return bytes > max_small ? 0 : bytes; }

    [[nodiscard]] std::size_t stacks() const {
        std::size_t most = 0;
        for (const held& each : blocks) most = std::max(most, each.stack + 1);
        return most;
    }
    [[nodiscard]] double bytes_of(std::size_t stack) const {
        double bytes = 0;
        for (const held& each : blocks) bytes += each.stack == stack ? double(each.block_bytes * each.count) : 0;
        return bytes;
    }
    /// What a file would say after one drawing of samples.
    [[nodiscard]] saved_profile sampled(support::random& numbers) const {
        saved_profile saved;
        saved.header.mean_bytes = mean_bytes;
        saved.sites.resize(stacks());
        std::map<std::uint64_t, format::size_class> now, then;
        const auto count = [](std::map<std::uint64_t, format::size_class>& to, std::uint64_t bytes, std::size_t more) {
            format::size_class& its = to[class_of(bytes)];
            its.block_bytes = class_of(bytes);
            its.live_blocks += more;
            its.live_bytes += more * bytes;
        };
        for (const held& each : blocks) {
            count(now, each.block_bytes, each.count);
            count(then, each.block_bytes, 0);
            const double chance = -std::expm1(-double(each.block_bytes) / double(mean_bytes));
            // The distance between two sampled blocks is distributed geometrically.
            const auto gap = [&] {
                const double uniform = (double(numbers.below(std::uint64_t{1} << 52)) + 0.5) * 0x1p-52;
                return chance < 1 ? std::min(std::log(uniform) / std::log1p(-chance), 1e9) : 0.0;
            };
            for (auto block = std::size_t(gap()); block < each.count; block += std::size_t(gap()) + 1) {
                format::live_sample sample{};
                sample.block_bytes = each.block_bytes;
                sample.site = static_cast<std::uint32_t>(each.stack);
                saved.live.push_back(sample);
            }
        }
        for (const held_before& each : before) {
            count(now, each.block_bytes, each.count - each.freed);
            count(then, each.block_bytes, each.count);
        }
        for (const auto& [bytes, each] : now) saved.classes.push_back(each);
        for (const auto& [bytes, each] : then) saved.classes_before.push_back(each);
        return saved;
    }

    std::vector<held> blocks;
    std::vector<held_before> before;
};

/// What many drawings say of one stack, or of all.
struct outcome {
    double exact = 0;
    double mean = 0;    ///< of the estimates
    double error = 0;   ///< root of the mean square of the estimate's difference from the truth
    double stated = 0;  ///< root of the mean stated variance
    double sampled = 0; ///< `error` of the plain estimates
    double within = 0;  ///< part of the drawings whose ± holds the truth
    double standard() const { return error / exact; }
};

std::vector<std::size_t> stacks_of(const saved_profile& saved) {
    std::vector<std::size_t> found;
    for (const format::live_sample& each : saved.live) found.push_back(each.site);
    return found;
}

/// For each stack, and at last for their sum.
std::vector<outcome> outcomes_of(const model& of, int drawings, std::uint64_t seed) {
    support::random numbers(seed);
    std::vector<outcome> found(of.stacks() + 1);
    for (std::size_t stack = 0; stack < of.stacks(); ++stack) {
        found[stack].exact = of.bytes_of(stack);
        found.back().exact += found[stack].exact;
    }
    for (int drawing = 0; drawing < drawings; ++drawing) {
        const saved_profile saved = of.sampled(numbers);
        const calibration exact(saved);
        EXPECT_TRUE(exact.is_possible());
        std::vector<format::estimate> all = exact.by_group(stacks_of(saved), of.stacks());
        all.push_back(exact.total());
        std::vector<double> plain(all.size());
        for (const format::live_sample& each : saved.live) {
            const double bytes = double(each.block_bytes) / -std::expm1(-double(each.block_bytes) / double(mean_bytes));
            plain[each.site] += bytes;
            plain.back() += bytes;
        }
        for (std::size_t index = 0; index < all.size(); ++index) {
            outcome& to = found[index];
            const double off = all[index].bytes - to.exact;
            to.mean += all[index].bytes / drawings;
            to.error += off * off / drawings;
            to.stated += all[index].variance / drawings;
            to.sampled += (plain[index] - to.exact) * (plain[index] - to.exact) / drawings;
            // Half a byte, as the outputs round.
            to.within += std::fabs(off) <= error_of(all[index]) + 0.5 ? 1.0 / drawings : 0;
        }
    }
    for (outcome& each : found) {
        each.error = std::sqrt(each.error);
        each.stated = std::sqrt(each.stated);
        each.sampled = std::sqrt(each.sampled);
    }
    return found;
}

constexpr int drawings = 600;

/// Six standard errors of a mean over the drawings, and a little for the second order of a ratio.
void expect_unbiased(const outcome& of) {
    EXPECT_NEAR(of.mean, of.exact, 6 * of.error / std::sqrt(double(drawings)) + 0.003 * of.exact + 1);
}

TEST(calibration, a_stack_that_has_a_class_nearly_alone_is_nearly_exact) {
    // 64 MiB in blocks of 1 KiB beside 1 MiB of another's: 9 % of standard error for a plain sample.
    const model of({{0, 1024, 65'536}, {1, 1024, 1024}});
    const std::vector<outcome> found = outcomes_of(of, drawings, 1);
    EXPECT_NEAR(found[0].sampled / found[0].exact, 0.088, 0.01);
    EXPECT_LT(found[0].standard(), 0.016);
    EXPECT_GT(found[0].within, 0.9) << "the other has two samples, so their number is far from a normal one";
    EXPECT_LT(found[0].stated / found[0].exact, 0.02);
    expect_unbiased(found[0]);
    expect_unbiased(found[1]);
    EXPECT_EQ(found[2].error, 0) << "all of it is counted";
    EXPECT_EQ(found[2].stated, 0);
}

TEST(calibration, stacks_that_share_classes_are_as_wrong_as_they_say) {
    // Two large parts and a small one of a class, a stack with parts of several classes, and one of larger blocks.
    const model of({{0, 1024, 40'000},
                    {1, 1024, 40'000},
                    {2, 1024, 20'000},
                    {3, 1024, 10'000},
                    {3, 256, 100'000},
                    {4, 256, 40'000},
                    {5, 16'384, 3000},
                    {0, 16'384, 3000}});
    const std::vector<outcome> found = outcomes_of(of, drawings, 2);
    for (std::size_t stack = 0; stack < of.stacks(); ++stack) {
        const outcome& each = found[stack];
        SCOPED_TRACE(stack);
        expect_unbiased(each);
        EXPECT_NEAR(each.stated, each.error, 0.12 * each.error); // 4 standard errors of an error over the drawings
        EXPECT_LT(each.error, each.sampled) << "no better than without the counts";
        EXPECT_GT(each.within, 0.89);
    }
    // Half of a class: the error of a share, sqrt((1 - 1/2) / n) of what it has.
    const double n = 110'000 * (1 - std::exp(-1024.0 / (512 * 1024)));
    const double share = 40'000.0 / 110'000;
    const model alone({{0, 1024, 40'000}, {1, 1024, 70'000}});
    EXPECT_NEAR(outcomes_of(alone, drawings, 3)[0].standard(), std::sqrt((1 - share) / share / n), 0.01);
}

TEST(calibration, blocks_past_the_classes_are_corrected_without_spoiling_what_is_certain) {
    // One block of 64 MiB is recorded always; many of 64 KiB seldom. All are of one class.
    const model of({{0, 64 << 20, 1}, {1, 65'536, 2000}, {2, 400'000, 200}});
    const std::vector<outcome> found = outcomes_of(of, drawings, 4);
    EXPECT_LT(found[0].standard(), 1e-9);
    for (const std::size_t stack : {std::size_t{1}, std::size_t{2}}) {
        SCOPED_TRACE(stack);
        expect_unbiased(found[stack]);
        EXPECT_NEAR(found[stack].stated, found[stack].error, 0.12 * found[stack].error);
        EXPECT_LT(found[stack].error, 0.9 * found[stack].sampled);
    }
    EXPECT_NEAR(found.back().error, 0, 1);
}

TEST(calibration, blocks_of_before_leave_open_only_what_is_not_known_of_them) {
    // Of 64 MiB, 2 MiB were there before, and half of that is freed since: the truth is known to 2 MiB.
    const model of({{0, 1024, 65'536}}, {{1024, 2048, 1024}});
    const std::vector<outcome> found = outcomes_of(of, drawings, 5);
    EXPECT_LE(found[0].error, 2048.0 * 1024);
    EXPECT_GE(found[0].stated, found[0].error);
    EXPECT_LE(found[0].stated / found[0].exact, 0.035);
    EXPECT_LT(found[0].error, 0.4 * found[0].sampled);
}

TEST(calibration, where_nearly_all_was_there_before_the_sample_alone_speaks) {
    const model of({{0, 1024, 20'000}, {1, 1024, 10'000}}, {{1024, 300'000, 100'000}});
    const std::vector<outcome> found = outcomes_of(of, drawings, 6);
    for (const std::size_t stack : {std::size_t{0}, std::size_t{1}}) {
        SCOPED_TRACE(stack);
        expect_unbiased(found[stack]);
        EXPECT_NEAR(found[stack].error, found[stack].sampled, 1e-6 * found[stack].error);
        EXPECT_NEAR(found[stack].stated, found[stack].error, 0.12 * found[stack].error);
    }
}

TEST(calibration, a_single_sample_of_a_class_makes_nobody_certain) {
    const model of({{0, 64, 4000}, {1, 64, 4000}});
    support::random numbers(7);
    int singles = 0;
    for (int drawing = 0; drawing < drawings; ++drawing) {
        const saved_profile saved = of.sampled(numbers);
        if (saved.live.size() != 1) continue;
        ++singles;
        const calibration exact(saved);
        const format::estimate found = exact.by_group({saved.live[0].site}, 2)[saved.live[0].site];
        EXPECT_NEAR(found.bytes, 8000.0 * 64, 1);
        EXPECT_GT(std::sqrt(found.variance), 0.9 * found.bytes);
        EXPECT_NEAR(found.blocks, 8000, 0.1);
    }
    EXPECT_GT(singles, 50);
}

TEST(calibration, a_class_whose_blocks_are_all_recorded_is_certain) {
    const model of({{0, 400'000, 1}, {1, 500'000, 2}});
    support::random numbers(12);
    saved_profile saved = of.sampled(numbers);
    while (saved.live.size() != 3) saved = of.sampled(numbers);
    for (const format::estimate& each : calibration(saved).by_group(stacks_of(saved), 2)) EXPECT_EQ(each.variance, 0);
    EXPECT_EQ(calibration(saved).by_group(stacks_of(saved), 2)[0].bytes, 400'000);
}

TEST(calibration, classes_without_a_sample_count_for_the_sum_alone) {
    const model of({{0, 16, 1000}});
    support::random numbers(8);
    saved_profile saved = of.sampled(numbers);
    saved.live.clear();
    const calibration exact(saved);
    EXPECT_EQ(exact.by_group({}, 1)[0].bytes, 0);
    EXPECT_EQ(exact.total().bytes, 16'000);
    EXPECT_EQ(exact.unsampled_bytes(), 16'000);
}

TEST(calibration, is_left_out_where_the_counts_are_of_other_blocks) {
    const model of({{0, 1024, 1000}});
    support::random numbers(9);
    saved_profile saved = of.sampled(numbers);
    ASSERT_TRUE(calibration(saved).is_possible());
    saved.header.lost_samples = 1;
    EXPECT_FALSE(calibration(saved).is_possible());
    saved.header.lost_samples = 0;
    saved.classes_before.clear();
    EXPECT_FALSE(calibration(saved).is_possible());
}

// Of a foreign file: nothing that its numbers can say makes an estimate that is none.
TEST(calibration, any_counts_make_finite_estimates) {
    support::random numbers(10);
    for (int round = 0; round < 2000; ++round) {
        saved_profile saved;
        const auto any = [&] { return numbers.one_in(3) ? UINT64_MAX >> numbers.below(64) : numbers.below(70'000); };
        saved.header.mean_bytes = std::max<std::uint64_t>(any(), 1);
        for (int each = 0; each < 5; ++each) {
            saved.classes.push_back({any() % 8 * 512, any(), any()});
            saved.classes_before.push_back({any() % 8 * 512, any(), any()});
            format::live_sample sample{};
            sample.block_bytes = any();
            saved.live.push_back(sample);
        }
        const calibration exact(saved);
        const format::estimate all = exact.total(), one = exact.by_group(std::vector<std::size_t>(5), 1)[0];
        for (const double value : {all.bytes, all.blocks, all.variance, one.bytes, one.blocks, one.variance})
            ASSERT_TRUE(std::isfinite(value) && value >= 0) << round;
    }
}
}

}
