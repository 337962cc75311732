// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Under which names profiles are saved, and when without a call of the program.

#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/profile_format.hpp>
#include <tenure/base/report.hpp>

namespace tenure::inline TENURE_ABI::detail {

class profile_records;

/// Appends `DIRECTORY/PROGRAM.PROCESS.NUMBER.heapprofile`, with the directory of TENURE_PROFILE_DIR, which is
/// read once where a profile saves by itself; at the end and at a peak, `exit` or `peak` is the number. Each other call
/// counts the number up.
void name_profile_file(report_text& path, profile_format::occasion why) noexcept;

/// Reports that a file could not be written, and what helps.
void report_profile_not_written(const report_text& path) noexcept;

/// The options profile_every_ms and profile_at_peak.
///
/// Threads   any.
class save_schedule {
public:
    constexpr save_schedule() noexcept = default;
    save_schedule(const save_schedule&) = delete;
    save_schedule& operator=(const save_schedule&) = delete;

    /// Reads the options, and TENURE_PROFILE_DIR. `records` then tells when what is live has risen.
    void begin(profile_records& records, std::uint64_t mean_bytes) noexcept;

    /// Saves if a file is due. `may_save` tells whether the calling thread may. Called for each recorded allocation.
    void serve(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
               void (*save)(profile_format::occasion) noexcept) noexcept;

    /// Whether files are saved at intervals.
    // Sequentially consistent, as begin() is, for the end of the background thread: see heap_profile_events::set_up().
    [[nodiscard]] bool has_intervals() const noexcept { return due_ms_.load(memory_order::seq_cst) != UINT64_MAX; }

    /// Saves if an interval has ended and a recorded block has changed in it: for a thread that waits meanwhile.
    /// Returns   the milliseconds until the next one ends; UINT64_MAX if it has ended without a change.
    std::uint64_t end_interval(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
                               void (*save)(profile_format::occasion) noexcept) noexcept;

private:
    void save_at_interval(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
                          void (*save)(profile_format::occasion) noexcept) noexcept;

    // Relaxed: a compare-exchange of the time elects who saves. due_ms_ is sequentially consistent where
    // has_intervals() and the end of the background thread meet.
    atomic<std::uint64_t> changes_saved_{0}; ///< in the last file of an interval
    atomic<std::uint64_t> due_ms_{UINT64_MAX};
    atomic<std::uint64_t> no_peak_before_ms_{0};
};

}
