// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/profile/profile_files.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace format = profile_format;

namespace {

/// Copied when a profile begins that saves by itself: the background thread, which saves too, must not read the
/// environment while the program changes it.
constinit char directory[4096]{};
constinit std::atomic<bool> is_directory_noted{false}; // released after the directory is copied, and acquired

void note_directory() noexcept {
    const char* const wanted = host::environment("TENURE_PROFILE_DIR");
    const std::string_view text = wanted == nullptr ? std::string_view{} : std::string_view{wanted};
    const std::size_t bytes = std::min(text.size(), sizeof directory - 1); // the system takes no longer path
    if (bytes != 0) std::memcpy(directory, text.data(), bytes);
    is_directory_noted.store(true, std::memory_order_release);
}

[[nodiscard]] const char* wanted_directory() noexcept {
    return is_directory_noted.load(std::memory_order_acquire) ? directory : host::environment("TENURE_PROFILE_DIR");
}

}

void name_profile_file(report_text& path, format::occasion why) noexcept {
    static constinit std::atomic<std::uint32_t> file_number{0}; // relaxed: each file gets another number
    const char* const folder = wanted_directory();
    if (folder != nullptr && *folder != '\0') path.text(folder).text("/");
    path.text(platform::program_name()).text(".").number(platform::process_id()).text(".");
    if (why == format::occasion::exit || why == format::occasion::peak) {
        path.text(why == format::occasion::exit ? "exit" : "peak");
    } else {
        const std::uint32_t number = file_number.fetch_add(1, std::memory_order_relaxed) + 1;
        for (std::uint32_t least = 1000; least > number && least > 1; least /= 10) path.text("0");
        path.number(number);
    }
    path.text(".heapprofile");
}

void report_profile_not_written(const report_text& path) noexcept {
    report_text text;
    text.text("The heap profile ").text(path.view()).text(" could not be written. ");
    text.text("TENURE_PROFILE_DIR names a folder that exists and has room.");
    report(report_kind::notice, text.view());
}

void save_schedule::begin(profile_records& records, std::uint64_t mean_bytes) noexcept {
    /// Below that, a profile at the peak would say little.
    constexpr double least_peak_samples = 16;
    note_directory();
    const std::uint64_t every_ms = option_value(option::profile_every_ms);
    if (every_ms != 0) due_ms_.store(platform::unix_ms() + every_ms, std::memory_order_seq_cst);
    if (option_value(option::profile_at_peak) != 0)
        records.await_rise(least_peak_samples * static_cast<double>(mean_bytes));
}

void save_schedule::save_at_interval(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
                                     void (*save)(format::occasion) noexcept) noexcept {
    std::uint64_t due = due_ms_.load(std::memory_order_relaxed);
    if (now_ms < due || !may_save()) return;
    const std::uint64_t next = now_ms + option_value(option::profile_every_ms);
    if (!due_ms_.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
    changes_saved_.store(records.change_count(), std::memory_order_relaxed);
    save(format::occasion::interval);
}

std::uint64_t save_schedule::end_interval(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
                                          void (*save)(format::occasion) noexcept) noexcept {
    if (records.change_count() != changes_saved_.load(std::memory_order_relaxed))
        save_at_interval(records, now_ms, may_save, save);
    const std::uint64_t due = due_ms_.load(std::memory_order_relaxed);
    return due > now_ms ? due - now_ms : UINT64_MAX;
}

void save_schedule::serve(profile_records& records, std::uint64_t now_ms, bool (*may_save)() noexcept,
                          void (*save)(format::occasion) noexcept) noexcept {
    save_at_interval(records, now_ms, may_save, save);
    // Each file of a peak needs a tenth more of live bytes than the one before, so there are few: 24 for ten times as
    // much. Where saving is slow, as with many stacks, it takes a tenth of the time at most: until then a file needs
    // twice as much.
    constexpr double growth = 1.1, growth_in_pause = 2;
    constexpr std::uint64_t pause = 10; // times as long as saving took
    if (!records.has_risen() || !may_save()) return;
    const bool is_pause = now_ms < no_peak_before_ms_.load(std::memory_order_relaxed);
    if (!records.take_rise(growth, is_pause ? growth_in_pause / growth : 1)) return;
    save(format::occasion::peak);
    const std::uint64_t ended_ms = platform::unix_ms();
    if (ended_ms > now_ms) no_peak_before_ms_.store(ended_ms + pause * (ended_ms - now_ms), std::memory_order_relaxed);
}

}
