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
