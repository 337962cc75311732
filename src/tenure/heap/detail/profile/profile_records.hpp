// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the heap profile has recorded: the live blocks among the samples, and the sums for each stack.

#include <cstddef>
#include <cstdint>
#include <span>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/heap/detail/profile/record_array.hpp>
#include <tenure/heap/detail/profile/sample_index.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// An allocation that is recorded.
struct sample_facts {
    const void* block;
    std::uint64_t asked_bytes;
    std::uint64_t block_bytes; ///< of its size class
    double chance;             ///< that it was to be recorded
    std::uint64_t at_ms;       ///< milliseconds since 1970
    std::uint64_t thread;
    std::uint16_t tag;
};

/// The peak is that of the estimate of all live bytes. A stack's sums of then are kept when they change for the first
/// time after it: a peak that rises costs nothing but a number.
///
/// Threads   any; one lock. may_contain() takes none.
/// Cost      begin() and end() O(1) amortized, O(frames) for the stack.
class TENURE_API profile_records {
public:
    constexpr profile_records() noexcept = default;
    ~profile_records() = default; // lives as long as the process
    profile_records(const profile_records&) = delete;
    profile_records& operator=(const profile_records&) = delete;

    /// Forgets everything. Requires  nobody else calls, except may_contain().
    void clear() noexcept;

    /// Records an allocation. A block that is recorded already begins anew.
    /// Returns   whether there was memory for it; if not, it counts as lost.
    bool begin(const sample_facts& sample, std::span<void* const> stack) noexcept;
    /// Whether the block may be recorded. Requires  the caller owns it.
    [[nodiscard]] bool may_contain(const void* block) const noexcept { return index_.contains(block); }
    /// The block is freed.
    /// Returns   whether it was recorded.
    bool end(const void* block) noexcept;
    /// No block is live any more.
    void end_all() noexcept;

    /// Whether the estimate of all live bytes has reached what is awaited; it may have fallen again.
    [[nodiscard]] bool has_risen() const noexcept { return has_risen_.load(memory_order::relaxed); }
    /// Awaits an estimate of so many live bytes; `never` awaits nothing.
    void await_rise(double bytes) noexcept;
    static constexpr double never = 1e300;
    /// If the estimate is at least `least` times what is awaited, awaits `growth` times as much as it is.
    /// Returns   whether it is; true for one thread only.
    [[nodiscard]] bool take_rise(double growth, double least = 1) noexcept;

    [[nodiscard]] std::size_t live_count() const noexcept { return index_.count(); }
    /// How many blocks were recorded, and freed. It never falls.
    [[nodiscard]] std::uint64_t change_count() const noexcept { return changes_.load(memory_order::relaxed); }
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }

    // For whoever saves them. Requires  the lock.
    [[nodiscard]] std::size_t site_count() const noexcept { return sites_.count(); }
    [[nodiscard]] profile_format::site site_at(std::size_t index) const noexcept;
    [[nodiscard]] std::span<const std::uint64_t> frames() const noexcept { return frames_.all(); }
    /// Calls `visit(const profile_format::live_sample&)` for each live sample.
    template<class Visit>
    void for_each_live(Visit&& visit) const {
        for (const live_record& each : live_.all()) {
            if (each.is_live) visit(each.shown);
        }
    }
    [[nodiscard]] std::uint64_t peak_ms() const noexcept { return peak_ms_; }
    [[nodiscard]] std::uint64_t lost_count() const noexcept { return lost_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    struct site_record {
        profile_format::site shown;
        std::uint64_t hash;
        std::uint64_t peak; ///< the number of the peak that shown.at_peak is from
    };
    struct live_record {
        profile_format::live_sample shown;
        double chance;
        std::uint32_t next_unused; ///< index
        bool is_live;
    };
    static constexpr std::uint32_t no_index = UINT32_MAX;

    [[nodiscard]] std::uint32_t site_for(std::uint16_t tag, std::span<void* const> stack) noexcept;
    [[nodiscard]] bool grow_places() noexcept;
    void keep_peak(site_record& site) const noexcept;
    void count_change() noexcept;
    void end_record(std::uint32_t index) noexcept;

    platform::mutex mutex_; ///< guards everything below, except look-ups in the index
    sample_index index_;
    record_array<site_record> sites_;
    record_array<std::uint32_t> places_; ///< a hash table of indices of sites, plus one; a power of two
    record_array<std::uint64_t> frames_;
    record_array<live_record> live_;
    std::uint32_t unused_ = no_index; ///< the first of the records without a live block
    double live_bytes_ = 0;
    double peak_bytes_ = 0;
    std::uint64_t peak_ = 0; ///< its number
    std::uint64_t peak_ms_ = 0;
    std::uint64_t lost_ = 0;
    double awaited_bytes_ = never;
    // Relaxed: written under the lock; what is read without it is a hint.
    atomic<bool> has_risen_{false};
    atomic<std::uint64_t> changes_{0};
};

/// Those of the process heap.
extern TENURE_API constinit profile_records records_of_profile;

}
