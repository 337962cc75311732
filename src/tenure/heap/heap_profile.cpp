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
#include <tenure/heap/detail/profile/page_map.hpp>
#include <tenure/heap/detail/profile/profile_files.hpp>
#include <tenure/heap/detail/profile/profile_records.hpp>
#include <tenure/heap/detail/profile/profile_writer.hpp>
#include <tenure/heap/detail/profile/sampling.hpp>
#include <tenure/heap/detail/purge/background.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/output_file.hpp>

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

// Relaxed: written and read under the lock of control.
constinit std::atomic<std::uint64_t> started_ms{0}; ///< zero: never
constinit detail::save_schedule schedule{};
constinit std::atomic<bool> is_automatic{false}; // relaxed: the program's end comes after its start

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
                                  nullptr};
    if (what == profile_contents::stacks_and_pages && heap_profile::is_running())
        moment.write_pages = &detail::write_heap_pages;
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
    schedule.begin(records_of_profile, detail::sampling::mean_bytes());
    // For the time when nothing is allocated. A thread that is about to end either sees the intervals, in may_end(), or
    // is seen to be gone here.
    if (schedule.has_intervals() && can_want_background()) want_background();
}

void heap_profile_events::save_now(format::occasion why) noexcept {
    const bool has_pages = option_value(option::profile_pages) != 0;
    save_now(why, has_pages ? profile_contents::stacks_and_pages : profile_contents::stacks);
}

void heap_profile_events::save_now(format::occasion why, profile_contents what) noexcept {
    const int saved = errno;
    report_text path;
    name_profile_file(path, why);
    if (save_as(path.view(), why, what) == status::file_error) {
        report_profile_not_written(path);
        if (why == format::occasion::peak) records_of_profile.await_rise(detail::profile_records::never);
    }
    errno = saved;
}

void heap_profile_events::save_if_due(std::uint64_t now_ms) noexcept {
    schedule.serve(records_of_profile, now_ms, &may_save, [](format::occasion why) noexcept { save_now(why); });
}

bool heap_profile_events::has_intervals() noexcept { return schedule.has_intervals() && heap_profile::is_running(); }

std::uint64_t heap_profile_events::end_interval(std::uint64_t now_ms) noexcept {
    return schedule.end_interval(records_of_profile, now_ms, &may_save,
                                 [](format::occasion why) noexcept { save_now(why); });
}

namespace {

// Runs after the program's own destructors, as the check for leaks.
TENURE_AT_UNLOAD(save_at_exit) {
    if (is_automatic.load(std::memory_order_relaxed) && heap_profile_events::may_save())
        heap_profile_events::save_now(format::occasion::exit);
}

}

}

}
