// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Corrects the estimates of what is live by the heap's own counts, which are exact for each size class.
///
/// A size class has few stacks, often one. Sampling says how they share the class, and the count says how much there is
/// to share. So the error that is left is that of the shares: next to nothing where one stack has nearly all blocks of
/// a class; the same as without the counts where many stacks have a small part each.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "observe/profile/saved_profile.hpp"

namespace tenure::lab {

// For one class, with the sampled blocks i of s_i bytes and the chances p_i: X = sum of x_i = s_i / p_i estimates the
// class's bytes, and V = sum of x_i^2 (1 - p_i) the variance of X. X_k and V_k are the sums over the blocks of group k.
// The truth T lies between `least` and `most`: the count without the blocks of before the profile, of which it is
// not known how many were freed since, and the count with them. T is estimated as X, moved into these bounds. With
// Cov(X_k, X) = V_k, the linear estimate of group k that has the least variance is
//
//   Y_k = X_k + b (T - X),   b = V_k / V,   with the variance  g^2 V_k (1 - b) + b^2 min(V, (most - least)^2)
//
// where g = T / X carries the correction to the residuals (the regression estimator, Särndal, Swensson and Wretman,
// "Model Assisted Survey Sampling", 1992, chapter 6; b as Montanari proposed in 1987). For blocks of one size this is
// the ratio estimate: T times the group's share of the samples. Bounds without information leave X_k and V_k as
// they are. A group that has all samples of a class would have no variance, but another group might have had
// the next one, so it is g^2 V_k / n at least, for n samples. The sampled blocks themselves are certain, so no estimate
// is off by more than `most` without them.
//
// Another value v_i of the blocks, such as the free bytes that they hold, is corrected by the same count. With E, W and
// C as the sums over the group of v_i / p_i, of (v_i / p_i)^2 (1 - p_i) and of (v_i / p_i) x_i (1 - p_i):
//
//   E + b (T - X),   b = C / V,   with the variance  g^2 (W - C^2 / V) + b^2 min(V, (most - least)^2)
//
// which is the above for v_i = s_i. It cannot be worse than E where the counts say nothing, and is as good as T where
// all blocks of a class have the same value.

class calibration {
public:
    /// Reads what it needs. `saved` must outlive this.
    explicit calibration(const saved_profile& saved);

    /// Whether the file has what is needed: counts of the begin and of now, and no lost samples.
    [[nodiscard]] bool is_possible() const { return is_possible_; }

    /// The sums by group. `group_of_sample[i]` is less than `groups`, for each of saved.live.
    /// Requires  is_possible().
    [[nodiscard]] std::vector<profile_format::estimate> by_group(const std::vector<std::size_t>& group_of_sample,
                                                                 std::size_t groups) const;
    /// The same for another value of each block, which `bytes` is then the sum of: `value_of_sample[i]`, zero or more.
    [[nodiscard]] std::vector<profile_format::estimate> values_by_group(const std::vector<double>& value_of_sample,
                                                                        const std::vector<std::size_t>& group_of_sample,
                                                                        std::size_t groups) const;
    /// All that is live of what was allocated since the profile began, also in classes without a sample.
    [[nodiscard]] profile_format::estimate total() const;
    /// The part of it that no sample stands for.
    [[nodiscard]] double unsampled_bytes() const;

private:
    /// Sums over samples, for blocks or for bytes.
    struct sum {
        double least = 0;    ///< of the samples themselves, which are surely live
        double estimate = 0; ///< X
        double variance = 0; ///< V
    };
    /// One of these, corrected.
    struct corrected {
        double value, variance;
    };
    /// What is known of a class.
    struct bounds {
        double least = 0, most = 0;
        [[nodiscard]] double nearest(const sum& of) const;
        /// Of nearest(). With less than one sample, a sample's variance counts.
        [[nodiscard]] double variance(const sum& of, double of_one_sample) const;
    };
    struct tally {
        std::uint64_t samples = 0;
        sum blocks, bytes;
    };
    struct size_class {
        bounds blocks, bytes;
        tally sampled;
    };

    void add(tally& to, const profile_format::live_sample& sample) const;
    [[nodiscard]] std::uint64_t class_of(const profile_format::live_sample& sample) const;
    [[nodiscard]] static corrected correct(const sum& group, const sum& all, const bounds& known,
                                           std::uint64_t samples);

    const saved_profile& saved_;
    bool is_possible_ = false;
    std::map<std::uint64_t, size_class> classes_; ///< by the blocks' bytes; zero: past the last class
};

}
