// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenure::lab {

namespace {

namespace format = profile_format;

[[nodiscard]] double least_of(std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - std::min(now, before));
}

}

double calibration::bounds::nearest(const sum& of) const { return std::clamp(of.estimate, least, most); }

double calibration::bounds::variance(const sum& of, double of_one_sample) const {
    return std::min(std::max(of.variance, of.estimate > 0 ? 0 : of_one_sample), (most - least) * (most - least));
}

calibration::calibration(const saved_profile& saved) : saved_(saved) {
    if (saved.classes_before.empty() || saved.classes.empty() || saved.header.lost_samples != 0) return;
    std::map<std::uint64_t, const format::size_class*> before;
    for (const format::size_class& each : saved.classes_before) before[each.block_bytes] = &each;
    for (const format::size_class& each : saved.classes) {
        size_class& its = classes_[each.block_bytes];
        its.blocks.most += static_cast<double>(each.live_blocks);
        its.bytes.most += static_cast<double>(each.live_bytes);
        const auto then = before.find(each.block_bytes);
        const bool is_known = then != before.end();
        its.blocks.least += least_of(each.live_blocks, is_known ? then->second->live_blocks : 0);
        its.bytes.least += least_of(each.live_bytes, is_known ? then->second->live_bytes : 0);
    }
    constexpr double unknown = std::numeric_limits<double>::max();
    for (const format::live_sample& each : saved.live) {
        const auto [its, is_new] = classes_.try_emplace(class_of(each));
        if (is_new) its->second.blocks.most = its->second.bytes.most = unknown;
        add(its->second.sampled, each);
    }
    // While threads are at work, counts and samples are of slightly different moments.
    const auto widen = [](bounds& known, const sum& sampled) {
        known.least = std::max(known.least, sampled.least);
        known.most = std::max(known.most, known.least);
    };
    for (auto& [bytes, its] : classes_) {
        widen(its.blocks, its.sampled.blocks);
        widen(its.bytes, its.sampled.bytes);
    }
    is_possible_ = true;
}

std::uint64_t calibration::class_of(const format::live_sample& sample) const {
    return classes_.find(sample.block_bytes) != classes_.end() ? sample.block_bytes : 0;
}

void calibration::add(tally& to, const format::live_sample& sample) const {
    const auto bytes = static_cast<double>(sample.block_bytes);
    const double chance = chance_of(sample.block_bytes, saved_.header.mean_bytes);
    if (!(chance > 0)) return;
    ++to.samples;
    const auto add_value = [&](sum& of, double value) {
        of.least += value;
        of.estimate += value / chance;
        of.variance += value / chance * (value / chance) * (1 - chance);
    };
    add_value(to.blocks, 1);
    add_value(to.bytes, bytes);
}

calibration::corrected calibration::correct(const sum& group, const sum& all, const bounds& known,
                                            std::uint64_t samples) {
    if (!(all.variance > 0) || !(all.estimate > 0)) return {group.estimate, group.variance};
    const double truth = known.nearest(all);
    const double part = group.variance / all.variance;
    const double carried = truth / all.estimate;
    const double own = carried * carried * group.variance;
    const double variance =
        std::max(own * (1 - part) + part * part * known.variance(all, 0), own / static_cast<double>(samples));
    const double uncertain = known.most - all.least;
    return {std::clamp(group.estimate + part * (truth - all.estimate), group.least, group.least + uncertain),
            std::min(variance, uncertain * uncertain)};
}

std::vector<format::estimate> calibration::by_group(const std::vector<std::size_t>& group_of_sample,
                                                    std::size_t groups) const {
    std::vector<std::map<std::uint64_t, tally>> tallies(groups);
    for (std::size_t index = 0; index < saved_.live.size(); ++index)
        add(tallies[group_of_sample[index]][class_of(saved_.live[index])], saved_.live[index]);
    std::vector<format::estimate> found(groups);
    for (std::size_t group = 0; group < groups; ++group) {
        for (const auto& [bytes, its] : tallies[group]) {
            const size_class& all = classes_.at(bytes);
            found[group].samples += its.samples;
            found[group].blocks += correct(its.blocks, all.sampled.blocks, all.blocks, all.sampled.samples).value;
            const corrected of = correct(its.bytes, all.sampled.bytes, all.bytes, all.sampled.samples);
            found[group].bytes += of.value;
            found[group].variance += of.variance;
        }
    }
    return found;
}

std::vector<format::estimate> calibration::values_by_group(const std::vector<double>& value_of_sample,
                                                           const std::vector<std::size_t>& group_of_sample,
                                                           std::size_t groups) const {
    struct value_sums {
        double least = 0, estimate = 0, variance = 0, covariance = 0;
    };
    std::vector<std::map<std::uint64_t, value_sums>> sums(groups);
    for (std::size_t index = 0; index < saved_.live.size(); ++index) {
        const format::live_sample& sample = saved_.live[index];
        const double chance = chance_of(sample.block_bytes, saved_.header.mean_bytes);
        if (!(chance > 0)) continue;
        const double value = value_of_sample[index], all = value / chance;
        value_sums& to = sums[group_of_sample[index]][class_of(sample)];
        to.least += value;
        to.estimate += all;
        to.variance += all * all * (1 - chance);
        to.covariance += all * (static_cast<double>(sample.block_bytes) / chance) * (1 - chance);
    }
    std::vector<format::estimate> found = by_group(group_of_sample, groups);
    for (std::size_t group = 0; group < groups; ++group) {
        found[group].bytes = found[group].variance = 0;
        for (const auto& [bytes, its] : sums[group]) {
            const size_class& whole = classes_.at(bytes);
            const sum& all = whole.sampled.bytes;
            if (!(all.variance > 0) || !(all.estimate > 0)) {
                found[group].bytes += its.estimate;
                found[group].variance += its.variance;
                continue;
            }
            const double truth = whole.bytes.nearest(all), carried = truth / all.estimate;
            const double slope = its.covariance / all.variance;
            const double own = carried * carried * its.variance;
            const double rest = std::max(own - carried * carried * its.covariance * slope, 0.0);
            found[group].bytes += std::max(its.estimate + slope * (truth - all.estimate), its.least);
            found[group].variance += std::max(rest + slope * slope * whole.bytes.variance(all, 0),
                                              own / static_cast<double>(whole.sampled.samples));
        }
    }
    return found;
}

format::estimate calibration::total() const {
    // A sample of a small block stands for so many bytes, and one of a larger block has less variance than that.
    const auto one_sample = static_cast<double>(saved_.header.mean_bytes);
    format::estimate found{};
    for (const auto& [bytes, its] : classes_) {
        found.samples += its.sampled.samples;
        found.blocks += its.blocks.nearest(its.sampled.blocks);
        found.bytes += its.bytes.nearest(its.sampled.bytes);
        found.variance += its.bytes.variance(its.sampled.bytes, one_sample * one_sample);
    }
    return found;
}

double calibration::unsampled_bytes() const {
    double found = 0;
    for (const auto& [bytes, its] : classes_) {
        if (its.sampled.samples == 0) found += its.bytes.nearest(its.sampled.bytes);
    }
    return found;
}

}
