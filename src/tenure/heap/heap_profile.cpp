// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/heap_profile.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/profile_writer.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/output_file.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI {

namespace format = profile_format;
using detail::records_of_profile;

namespace {

/// Guards starts, stops and saves; never held while the heap allocates.
constinit platform::mutex control_mutex{};
[[nodiscard]] platform::mutex& mutex_of_control(void*) noexcept { return control_mutex; }
[[nodiscard]] platform::mutex& mutex_of_records(void*) noexcept { return records_of_profile.mutex(); }
constexpr platform::fork_steps control_steps = platform::steps_of_lock<&mutex_of_control>;
constexpr platform::fork_steps records_steps = platform::steps_of_lock<&mutex_of_records>;
constinit platform::fork_handler control_fork{platform::fork_order::making, nullptr, control_steps};
constinit platform::fork_handler records_fork{platform::fork_order::leaf, nullptr, records_steps};

constinit std::atomic<std::uint64_t> started_ms{0}; ///< zero: never
constinit std::atomic<std::uint64_t> due_ms{UINT64_MAX};
constinit std::atomic<std::uint64_t> no_peak_before_ms{0};
constinit std::atomic<std::uint64_t> changes_saved{0}; ///< in the last file of an interval
constinit std::atomic<std::uint32_t> file_number{0};
constinit std::atomic<bool> is_automatic{false};
/// Below that, a profile at the peak would say little.
constexpr double least_peak_samples = 16;

// What the heap counts, when the profile began and at last. Under the lock of control. Counting takes the heap's locks,
// so it is done before the records' lock is taken.
using class_figures = std::array<format::size_class, detail::small_class_count + 1>;
constinit class_figures classes_before{};
constinit class_figures classes_now{};

enum class cached_blocks : bool { left_out, included };
void count_classes(class_figures& to, cached_blocks those_cached) noexcept {
    const detail::heap_core& core = detail::process_core();
    for (std::size_t index = 0; index < detail::small_class_count; ++index) {
        const detail::class_usage found = core.usage_of(index);
        const std::uint64_t count =
            those_cached == cached_blocks::included ? found.allocated : found.allocated - found.cached;
        to[index] = {detail::class_bytes(index), count, count * detail::class_bytes(index)};
    }
    to.back() = {0, core.large().live_count() + core.huge().live_count(),
                 core.large().live_bytes() + core.huge().live_bytes()};
    const auto count_guarded = [](void* context, void* block, std::size_t bytes) noexcept {
        const std::uint64_t block_bytes = detail::process_core().profiled(block, bytes).bytes;
        class_figures& figures = *static_cast<class_figures*>(context);
        const auto is_its = [&](const format::size_class& each) { return each.block_bytes == block_bytes; };
        format::size_class& its = *std::find_if(figures.begin(), figures.end() - 1, is_its); // or the last
        ++its.live_blocks;
        its.live_bytes += block_bytes;
    };
    const platform::lock_guard lock(core.sampled().mutex());
    core.sampled().for_each(count_guarded, &to);
}

/// Requires  the lock of control, and a profile.
[[nodiscard]] bool write_as(std::string_view path, format::occasion why, profile_contents what) noexcept {
    if (heap_profile::is_running()) count_classes(classes_now, cached_blocks::left_out);
    detail::profile_moment moment{detail::sampling::mean_bytes(),
                                  started_ms.load(std::memory_order_relaxed),
                                  why,
                                  classes_now,
                                  classes_before,
                                  what == profile_contents::stacks_and_pages && heap_profile::is_running()};
    if constexpr (checks::caller) moment.classes_before = {}; // counts leave out blocks between guard pages
    return detail::write_profile(records_of_profile, moment, path);
}

status save_as(std::string_view path, format::occasion why, profile_contents what) noexcept {
    const platform::lock_guard lock(control_mutex);
    if (started_ms.load(std::memory_order_relaxed) == 0) return status::not_started;
    return write_as(path, why, what) ? status::ok : status::file_error;
}

}

status heap_profile::start(std::uint64_t mean_bytes) noexcept {
    if (mean_bytes == 0) mean_bytes = option_value(option::profile_sample_bytes);
    if (mean_bytes > detail::sampling::max_mean_bytes) return status::invalid_argument;
    detail::heap_core& core = detail::process_core();
    if (passthrough_enabled(part::heap)) return status::unsupported;
    records_fork.enlist();
    control_fork.enlist();
    platform::hear_of_forks();
    const platform::lock_guard lock(control_mutex);
    if (is_running()) return status::already_started;
    records_of_profile.clear();
    detail::sampling::set_mean(mean_bytes);
    started_ms.store(platform::unix_ms(), std::memory_order_relaxed);
    detail::is_profiling.store(true, std::memory_order_release);
    core.count_allocations(true);
    count_classes(classes_before, cached_blocks::included); // last, so that it has all that was not counted
    return status::ok;
}

status heap_profile::stop() noexcept {
    const platform::lock_guard lock(control_mutex);
    if (!is_running()) return status::not_started;
    count_classes(classes_now, cached_blocks::left_out);
    detail::process_core().count_allocations(false);
    detail::is_profiling.store(false, std::memory_order_release);
    return status::ok;
}

bool heap_profile::is_running() noexcept { return detail::is_profiling.load(std::memory_order_relaxed); }

std::size_t heap_profile::sample_count() noexcept { return records_of_profile.live_count(); }

status heap_profile::save(std::string_view path, profile_contents what) noexcept {
    return save_as(path, format::occasion::asked, what);
}

namespace detail {

bool heap_profile_events::may_save() noexcept {
    return !control_mutex.is_mine() && !records_of_profile.mutex().is_mine() && !process_core().holds_lock();
}

void heap_profile_events::set_up() noexcept {
    if (option_value(option::profile) == 0 || heap_profile::start() != status::ok) return;
    is_automatic.store(true, std::memory_order_relaxed);
    const std::uint64_t every_ms = option_value(option::profile_every_ms);
    if (every_ms != 0) {
        due_ms.store(platform::unix_ms() + every_ms, std::memory_order_relaxed);
        want_background(); // for the time when nothing is allocated
    }
    if (option_value(option::profile_at_peak) != 0)
        records_of_profile.await_rise(least_peak_samples * static_cast<double>(detail::sampling::mean_bytes()));
}

void heap_profile_events::save_now(format::occasion why) noexcept {
    const bool has_pages = option_value(option::profile_pages) != 0;
    save_now(why, has_pages ? profile_contents::stacks_and_pages : profile_contents::stacks);
}

void heap_profile_events::save_now(format::occasion why, profile_contents what) noexcept {
    const int saved = errno;
    const char* const directory = host::environment("TENURE_PROFILE_DIR");
    report_text path;
    if (directory != nullptr && *directory != '\0') path.text(directory).text("/");
    path.text(platform::program_name()).text(".").number(platform::process_id()).text(".");
    if (why == format::occasion::exit || why == format::occasion::peak) {
        path.text(why == format::occasion::exit ? "exit" : "peak");
    } else {
        const std::uint32_t number = file_number.fetch_add(1, std::memory_order_relaxed) + 1;
        for (std::uint32_t least = 1000; least > number && least > 1; least /= 10) path.text("0");
        path.number(number);
    }
    path.text(".heapprofile");
    if (save_as(path.view(), why, what) == status::file_error) {
        report_text text;
        text.text("The heap profile ").text(path.view()).text(" could not be written. ");
        text.text("TENURE_PROFILE_DIR names a folder that exists and has room.");
        report(report_kind::notice, text.view());
        if (why == format::occasion::peak) records_of_profile.await_rise(detail::profile_records::never);
    }
    errno = saved;
}

namespace {

void save_at_interval(std::uint64_t now_ms) noexcept {
    std::uint64_t due = due_ms.load(std::memory_order_relaxed);
    if (now_ms < due || !heap_profile_events::may_save()) return;
    const std::uint64_t next = now_ms + option_value(option::profile_every_ms);
    if (!due_ms.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
    changes_saved.store(records_of_profile.change_count(), std::memory_order_relaxed);
    heap_profile_events::save_now(format::occasion::interval);
}

/// Each file needs a tenth more of live bytes than the one before, so there are few: 24 for ten times as much. Where
/// saving is slow, as with many stacks, it takes a tenth of the time at most: until then a file needs twice as much.
void save_at_peak(std::uint64_t now_ms) noexcept {
    constexpr double growth = 1.1, growth_in_pause = 2;
    constexpr std::uint64_t pause = 10; // times as long as saving took
    if (!records_of_profile.has_risen() || !heap_profile_events::may_save()) return;
    const bool is_pause = now_ms < no_peak_before_ms.load(std::memory_order_relaxed);
    if (!records_of_profile.take_rise(growth, is_pause ? growth_in_pause / growth : 1)) return;
    heap_profile_events::save_now(format::occasion::peak);
    const std::uint64_t ended_ms = platform::unix_ms();
    if (ended_ms > now_ms) no_peak_before_ms.store(ended_ms + pause * (ended_ms - now_ms), std::memory_order_relaxed);
}

}

void heap_profile_events::save_if_due(std::uint64_t now_ms) noexcept {
    save_at_interval(now_ms);
    save_at_peak(now_ms);
}

bool heap_profile_events::has_intervals() noexcept {
    return due_ms.load(std::memory_order_relaxed) != UINT64_MAX && heap_profile::is_running();
}

std::uint64_t heap_profile_events::end_interval(std::uint64_t now_ms) noexcept {
    const bool is_changed = records_of_profile.change_count() != changes_saved.load(std::memory_order_relaxed);
    if (is_changed) save_at_interval(now_ms);
    const std::uint64_t due = due_ms.load(std::memory_order_relaxed);
    return due > now_ms ? due - now_ms : UINT64_MAX;
}

namespace {

// Runs after the program's own destructors, as the check for leaks.
__attribute__((destructor(101))) void save_at_exit() noexcept {
    if (is_automatic.load(std::memory_order_relaxed) && heap_profile_events::may_save())
        heap_profile_events::save_now(format::occasion::exit);
}

}

}

}
