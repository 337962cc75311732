// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/profile_records.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/align.hpp>

namespace tenure::inline TENURE_ABI::detail {

constinit profile_records records_of_profile{};

namespace {

[[nodiscard]] std::uint64_t hash_of(std::uint16_t tag, std::span<void* const> stack) noexcept {
    std::uint64_t hash = tag + std::uint64_t{1};
    for (const void* const frame : stack) hash = (hash ^ address_of(frame)) * 0x9E37'79B9'7F4A'7C15;
    return hash ^ (hash >> 32);
}

void add(profile_format::estimate& to, double chance, std::uint64_t bytes) noexcept {
    const double all_bytes = static_cast<double>(bytes) / chance;
    ++to.samples;
    to.blocks += 1 / chance;
    to.bytes += all_bytes;
    to.variance += all_bytes * all_bytes * (1 - chance);
}

void subtract(profile_format::estimate& from, double chance, std::uint64_t bytes) noexcept {
    if (from.samples <= 1) { // also what rounding has left
        from = {};
        return;
    }
    const double all_bytes = static_cast<double>(bytes) / chance;
    --from.samples;
    from.blocks -= 1 / chance;
    from.bytes -= all_bytes;
    from.variance = std::max(from.variance - all_bytes * all_bytes * (1 - chance), 0.0);
}

}

void profile_records::clear() noexcept {
    const platform::lock_guard lock(mutex_);
    index_.clear();
    sites_.clear();
    places_.clear();
    frames_.clear();
    live_.clear();
    unused_ = no_index;
    live_bytes_ = peak_bytes_ = 0;
    peak_ = peak_ms_ = lost_ = 0;
    awaited_bytes_ = never;
    has_risen_.store(false, std::memory_order_relaxed);
}

void profile_records::await_rise(double bytes) noexcept {
    const platform::lock_guard lock(mutex_);
    awaited_bytes_ = bytes;
    has_risen_.store(live_bytes_ >= bytes, std::memory_order_relaxed);
}

bool profile_records::take_rise(double growth, double least) noexcept {
    const platform::lock_guard lock(mutex_);
    has_risen_.store(false, std::memory_order_relaxed);
    if (live_bytes_ < least * awaited_bytes_) return false;
    awaited_bytes_ = live_bytes_ * growth;
    return true;
}

bool profile_records::grow_places() noexcept {
    constexpr std::size_t first_count = 1024;
    const std::size_t count = places_.count() == 0 ? first_count : 2 * places_.count();
    if (!places_.reserve(count - places_.count())) return false;
    places_.clear();
    for (std::size_t place = 0; place < count; ++place) places_.append(0);
    for (std::size_t index = 0; index < sites_.count(); ++index) {
        std::size_t place = sites_[index].hash;
        while (places_[place & (count - 1)] != 0) ++place;
        places_[place & (count - 1)] = static_cast<std::uint32_t>(index + 1);
    }
    return true;
}

/// The site of a stack, added if it is new.
/// Returns   no_index when out of memory.
std::uint32_t profile_records::site_for(std::uint16_t tag, std::span<void* const> stack) noexcept {
    if (2 * (sites_.count() + 1) > places_.count() && !grow_places()) return no_index;
    const std::uint64_t hash = hash_of(tag, stack);
    std::size_t place = hash;
    const std::size_t mask = places_.count() - 1;
    for (; places_[place & mask] != 0; ++place) {
        const std::uint32_t index = places_[place & mask] - 1;
        const site_record& site = sites_[index];
        if (site.hash != hash || site.shown.tag != tag || site.shown.frame_count != stack.size()) continue;
        const auto same = [&](std::size_t frame) {
            return frames_[site.shown.first_frame + frame] == address_of(stack[frame]);
        };
        std::size_t frame = 0;
        while (frame < stack.size() && same(frame)) ++frame;
        if (frame == stack.size()) return index;
    }
    if (!sites_.reserve(1) || !frames_.reserve(stack.size())) return no_index;
    site_record added{};
    added.shown.first_frame = frames_.count();
    added.shown.frame_count = static_cast<std::uint32_t>(stack.size());
    added.shown.tag = tag;
    added.hash = hash;
    for (const void* const frame : stack) frames_.append(address_of(frame));
    sites_.append(added);
    const auto index = static_cast<std::uint32_t>(sites_.count());
    places_[place & mask] = index;
    return index - 1;
}

/// Called before a site changes: at the latest peak it was as it is now, unless it has changed since.
void profile_records::keep_peak(site_record& site) const noexcept {
    if (site.peak == peak_) return;
    site.shown.at_peak = site.shown.live;
    site.peak = peak_;
}

bool profile_records::begin(const sample_facts& sample, std::span<void* const> stack) noexcept {
    if (mutex_.is_mine()) return false; // a signal handler allocates in the middle of a change
    const platform::lock_guard lock(mutex_);
    if (const std::uint32_t present = index_.get(sample.block); present != sample_index::none) end_record(present);
    const std::uint32_t site = site_for(sample.tag, stack);
    const bool has_record = unused_ != no_index || live_.reserve(1);
    std::uint32_t index = unused_ != no_index ? unused_ : static_cast<std::uint32_t>(live_.count());
    if (site == no_index || !has_record || !index_.set(sample.block, index)) {
        ++lost_;
        return false;
    }
    const live_record record{{address_of(sample.block), sample.asked_bytes, sample.block_bytes, sample.at_ms,
                              sample.thread, site, sample.tag},
                             sample.chance,
                             no_index,
                             true};
    if (unused_ != no_index) {
        unused_ = live_[index].next_unused;
        live_[index] = record;
    } else {
        live_.append(record);
    }
    site_record& of = sites_[site];
    keep_peak(of);
    add(of.shown.allocated, sample.chance, sample.block_bytes);
    add(of.shown.live, sample.chance, sample.block_bytes);
    live_bytes_ += static_cast<double>(sample.block_bytes) / sample.chance;
    if (live_bytes_ > peak_bytes_) {
        peak_bytes_ = live_bytes_;
        peak_ms_ = sample.at_ms;
        ++peak_; // all sites are now as they were at the peak
    }
    if (live_bytes_ >= awaited_bytes_) has_risen_.store(true, std::memory_order_relaxed);
    count_change();
    return true;
}

/// Requires  the lock.
void profile_records::count_change() noexcept {
    changes_.store(changes_.load(memory_order::relaxed) + 1, memory_order::relaxed);
}

/// Requires  the lock.
void profile_records::end_record(std::uint32_t index) noexcept {
    live_record& record = live_[index];
    index_.remove(pointer_at(record.shown.address));
    site_record& site = sites_[record.shown.site];
    keep_peak(site);
    subtract(site.shown.live, record.chance, record.shown.block_bytes);
    live_bytes_ -= static_cast<double>(record.shown.block_bytes) / record.chance;
    record.is_live = false;
    count_change();
    record.next_unused = unused_;
    unused_ = index;
}

bool profile_records::end(const void* block) noexcept {
    if (mutex_.is_mine()) return false;
    const platform::lock_guard lock(mutex_);
    const std::uint32_t index = index_.get(block);
    if (index == sample_index::none) return false;
    end_record(index);
    return true;
}

void profile_records::end_all() noexcept {
    const platform::lock_guard lock(mutex_);
    for (std::uint32_t index = 0; index < live_.count(); ++index) {
        if (live_[index].is_live) end_record(index);
    }
}

profile_format::site profile_records::site_at(std::size_t index) const noexcept {
    const site_record& record = sites_[index];
    profile_format::site answer = record.shown;
    if (record.peak != peak_) answer.at_peak = answer.live;
    return answer;
}

}
