// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The reports at exit, enabled by TENURE_MALLOC_STATS, and on a signal, enabled by TENURE_MALLOC_STATS_SIGNAL: one
/// line of text or JSON, so that the lines of several processes do not mix. And the heap profile on a signal, enabled
/// by TENURE_PROFILE_SIGNAL.

#include <atomic>
#include <iterator>
#include <string_view>

#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/dropin/detail/advice.hpp>
#include <tenure/dropin/detail/figures.hpp>
#include <tenure/dropin/detail/reports.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/heap/detail/use_limit.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constexpr std::uint64_t as_json = 2;

constinit platform::kept_file standard_error{}; // as of the start: programs may close theirs before the report

enum class moment : std::uint8_t { exit, signal };

/// Writes a size in a unit that leaves at most four digits before the decimal point.
void say_bytes(report_text& line, std::size_t bytes) noexcept {
    constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0, scale = 1;
    while (unit + 1 < std::size(units) && bytes / scale >= 10'000) {
        scale *= 1024;
        ++unit;
    }
    line.number(bytes / scale);
    if (unit != 0) line.text(".").number(bytes % scale * 10 / scale);
    line.text(units[unit]);
}

void say_text(report_text& line, const figures& now, moment when) noexcept {
    line.text("tenure_malloc: ").text(platform::program_name()).text(" [").number(platform::process_id());
    line.text("]: peak in use ");
    say_bytes(line, now.all.peak_bytes);
    line.text(when == moment::exit ? ", at exit " : ", now ");
    say_bytes(line, now.all.live_bytes);
    line.text(" in ")
        .number(now.all.live_count)
        .text(now.all.live_count == 1 ? " block; reserved " : " blocks; reserved ");
    say_bytes(line, now.all.reserved_bytes);
    if (when == moment::exit) {
        line.text("; peak resident size of the process ");
        say_bytes(line, platform::peak_resident_bytes());
        if (const std::size_t others = c_library_bytes(); others != unknown_bytes) {
            line.text("; the C library's own heap ");
            say_bytes(line, others);
        }
        if constexpr (is_advised) {
            const advice_figures advice = advice_now();
            line.text("; advice for ").number(advice.found).text(" of ").number(advice.sites).text(" call sites");
        }
    } else {
        line.text("; resident size of the process ");
        say_bytes(line, platform::resident_bytes());
    }
    line.text("\n");
}

/// A program's name may contain any character; characters that JSON would escape are replaced by '?'.
void say_name(report_text& line, std::string_view name) noexcept {
    for (const char& letter : name) {
        const bool is_plain = letter >= ' ' && letter != '"' && letter != '\\' && letter != '\x7f';
        line.text(is_plain ? std::string_view{&letter, 1} : std::string_view{"?"});
    }
}

void say_json(report_text& line, const figures& now, moment when) noexcept {
    line.text("{\"allocator\":\"tenure\",\"checks\":").number(checks::level).text(",\"program\":\"");
    say_name(line, platform::program_name());
    line.text("\",\"pid\":").number(platform::process_id());
    line.text(when == moment::exit ? ",\"event\":\"exit\"" : ",\"event\":\"signal\"");
    line.text(",\"peak_bytes\":").number(now.all.peak_bytes);
    line.text(",\"live_bytes\":").number(now.all.live_bytes);
    line.text(",\"live_count\":").number(now.all.live_count);
    line.text(",\"reserved_bytes\":").number(now.all.reserved_bytes);
    line.text(",\"source_blocks\":").number(now.all.source_blocks);
    if (when == moment::exit) {
        line.text(",\"peak_resident_bytes\":").number(platform::peak_resident_bytes());
        if (const std::size_t others = c_library_bytes(); others != unknown_bytes)
            line.text(",\"c_library_bytes\":").number(others);
        if constexpr (is_advised) {
            const advice_figures advice = advice_now();
            line.text(",\"advised_sites\":").number(advice.sites).text(",\"sites_found\":").number(advice.found);
        }
        line.text("}\n");
    } else {
        line.text(",\"resident_bytes\":").number(platform::resident_bytes()).text("}\n");
    }
}

// In a signal handler, nothing here may allocate, take a lock of the C library or need much stack.
void write_report(moment when) noexcept {
    report_text line;
    option_value(option::malloc_stats) == as_json ? say_json(line, figures_now(), when)
                                                  : say_text(line, figures_now(), when);
    platform::write_to(standard_error, line.view());
}

/// Instead of a report: a thread that still runs, or was stopped inside a call, may hold a lock for ever.
void write_busy_report() noexcept {
    report_text line;
    if (option_value(option::malloc_stats) == as_json) {
        line.text("{\"allocator\":\"tenure\",\"checks\":").number(checks::level).text(",\"program\":\"");
        say_name(line, platform::program_name());
        line.text("\",\"pid\":").number(platform::process_id()).text(",\"event\":\"exit\",\"is_busy\":true}\n");
    } else {
        line.text("tenure_malloc: ").text(platform::program_name()).text(" [").number(platform::process_id());
        line.text("]: no statistics at exit: a call of a thread holds a lock of the heap. Join the threads before the "
                  "program ends, and do not end it in a signal handler.\n");
    }
    platform::write_to(standard_error, line.view());
}

// A thread that holds none of the heap's locks may wait for them, in a signal handler as elsewhere: nobody who holds
// one waits for the interrupted call. A thread that holds one reports when its call has released it.
void report_or_ask() noexcept {
    if (detail::core_of(heap::process()).holds_lock()) {
        wanted_reports().fetch_or(wanted::statistics, std::memory_order_relaxed);
    } else {
        write_report(moment::signal);
    }
}

// As for statistics.
void save_profile_or_ask() noexcept {
    if (detail::heap_profile_events::may_save()) {
        save_profile();
    } else {
        wanted_reports().fetch_or(wanted::heap_profile_file, std::memory_order_relaxed);
    }
}

void serve_signal(option which, std::string_view variable, void (*serve)() noexcept) noexcept {
    const auto number = static_cast<int>(option_value(which));
    if (number == 0 || platform::on_signal(number, serve)) return;
    report_text text;
    text.text(variable).text("=").number(static_cast<std::uint64_t>(number));
    text.text(
        " has no effect: the signal is ignored or handled in this process, or it cannot be handled. Choose another, "
        "for example 12 (SIGUSR2).");
    report(report_kind::notice, text.view());
}

TENURE_AMONG_CONSTRUCTORS(prepare_reports) {
    detail::serve_foreign_blocks();
    if (option_value(option::heap_limit_bytes) != 0) detail::use_limit::keep_standard_error();
    if (option_value(option::malloc_stats) != 0 || option_value(option::malloc_stats_signal) != 0)
        standard_error = platform::copy_of_standard_error();
    serve_signal(option::malloc_stats_signal, "TENURE_MALLOC_STATS_SIGNAL", &report_or_ask);
    serve_signal(option::profile_signal, "TENURE_PROFILE_SIGNAL", &save_profile_or_ask);
}

// Runs after the program's own destructors: the drop-in is loaded before all its libraries except the C library.
TENURE_AMONG_DESTRUCTORS(write_report_at_exit) {
    if (option_value(option::malloc_stats) == 0) return;
    platform::lock_patience patience(platform::lock_patience::at_exit_ns);
    detail::core_of(heap::process()).is_free(patience) ? write_report(moment::exit) : write_busy_report();
}

}

void save_profile(profile_contents least) noexcept {
    if (!heap_profile::is_running() && heap_profile::start() != status::ok) return;
    using events = detail::heap_profile_events;
    constexpr auto on_request = profile_format::occasion::signal;
    least == profile_contents::stacks ? events::save_now(on_request) : events::save_now(on_request, least);
}

constinit std::atomic<bool> is_profiled_for_listeners{false}; // relaxed: see reports.hpp

void follow_listeners() noexcept {
    static constinit std::atomic<bool> is_started_here{false}; // relaxed: only who won the exchange below uses it
    const bool is_wanted = platform::has_listeners();
    if (is_profiled_for_listeners.exchange(is_wanted, std::memory_order_relaxed) == is_wanted) return; // another thread
    if (is_wanted) {
        is_started_here.store(heap_profile::start() == status::ok, std::memory_order_relaxed);
    } else if (is_started_here.exchange(false, std::memory_order_relaxed)) {
        heap_profile::stop();
    }
}

void write_wanted_reports() noexcept {
    const std::uint16_t now = wanted_reports().exchange(0, std::memory_order_relaxed);
    if ((now & wanted::statistics) != 0) write_report(moment::signal);
    const bool has_pages = (now & wanted::heap_profile_pages) != 0;
    if ((now & wanted::heap_profile_file) != 0)
        save_profile(has_pages ? profile_contents::stacks_and_pages : profile_contents::stacks);
    if ((now & wanted::heap_profile_end) != 0) heap_profile::stop();
}

}
