// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace tenure::lab {

std::string percent_text(double part, double whole) {
    if (!(whole > 0) || !(part > 0)) return "0 %";
    const double share = 100 * part / whole;
    return share < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string whole_text(double value) {
    constexpr double most = 9e18;
    return std::isnan(value) ? "–" : integer_text(std::llround(std::clamp(value, -most, most)));
}

std::string whole_text(std::uint64_t value) { return integer_text(static_cast<std::int64_t>(value)); }

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", whole_text(count), noun, count == 1 ? "" : "s");
}

std::string counted(double count, std::string_view noun, std::string_view plural) {
    const std::string text = whole_text(count);
    if (text == "1") return fmt::format("1 {}", noun);
    return plural.empty() ? fmt::format("{} {}s", text, noun) : fmt::format("{} {}", text, plural);
}

std::string threads_of(const watched_site& site) {
    if (!site.has_more_threads) return counted(site.threads.size(), "thread");
    return whole_text(std::uint64_t{site.threads.size()}) + " or more threads";
}

std::string stays_of(const watched_region& region) {
    // A timeline entry that many short threads share is not the time of one thread.
    if (region.threads < 2 || region.threads != region.timeline.size()) return {};
    return fmt::format("inside: from {} to {} per thread", time_text(region.min_inside_ns),
                       time_text(region.max_inside_ns));
}

std::string about_waiting(const watched_region& region) {
    double longest = 0;
    for (const watched_site& each : region.sites) longest = std::max(longest, each.longest_wait_ns);
    return fmt::format("{}, the longest {}", counted(region.waits, "wait"), time_text(longest));
}

std::string about_allocation(const watched_region& region) {
    std::string text = counted(region.allocations, "allocation");
    if (region.allocations > 0) text += " of " + bytes_text(region.allocated_bytes);
    text += ", " + counted(region.releases, "free");
    if (region.null_frees > 0) text += fmt::format(" ({} of null pointers)", whole_text(region.null_frees));
    return text;
}

std::string about_kernel(const kernel_account& kernel) {
    return fmt::format("The kernel was asked about {:.0f} % of it. Scaled to all of it: {} on a processor ({} in the "
                       "kernel), {} in the run queue, {} voluntary and {}, {}.",
                       100 * kernel.asked_share, time_text(kernel.processor_ns), time_text(kernel.system_ns),
                       time_text(kernel.queue_ns), whole_text(kernel.voluntary),
                       counted(kernel.involuntary, "involuntary switch", "involuntary switches"),
                       counted(kernel.small_faults + kernel.large_faults, "fault"));
}

std::string moments_text(const findings& found) {
    if (found.moments.empty()) return {};
    std::string text = "Marks:";
    constexpr std::size_t most = 10;
    for (std::size_t index = 0; index < std::min(found.moments.size(), most); ++index) {
        const watched_moment& each = found.moments[index];
        text += fmt::format("{} {} at {}", index == 0 ? "" : ",", each.name, time_text(each.at_ns));
    }
    const std::uint64_t more = found.moments.size() - std::min(found.moments.size(), most) + found.lost_moments;
    if (more > 0) text += fmt::format(", and {} more", more);
    return text + ".";
}

no_regions about_no_regions(const findings& found) {
    std::uint64_t lost = 0;
    int why = 0;
    for (const watched_process& each : found.processes) {
        lost += each.lost_threads;
        if (each.refusal != 0) why = each.refusal;
    }
    if (lost > 0) {
        return {fmt::format("Nothing was recorded: {} had no room for a recording ({}).", counted(lost, "thread"),
                            std::strerror(why)),
                "Choose another folder for recordings with --keep DIR or TMPDIR."};
    }
    return {"No parallel region was seen: no thread was started, and there was no OpenMP or TBB region and no mark.",
            "--region=process watches the whole program, --region=function:NAME one function."};
}

std::string signal_text(int signal) {
    const char* const words = ::sigdescr_np(signal);
    return words == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} ({})", signal, words);
}

std::string time_text(double ns) {
    constexpr std::array<std::pair<double, std::string_view>, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}};
    for (const auto& [size, name] : units) {
        const double value = ns / size;
        if (value >= 999.5) return fmt::format("{} {}", whole_text(value), name);
        if (value >= 1) return fmt::format("{:.3g} {}", value, name);
    }
    return fmt::format("{:.0f} ns", ns);
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}
