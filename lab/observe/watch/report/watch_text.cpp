// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/watch/report/watch_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "observe/watch/advice.hpp"
#include "observe/watch/blame.hpp"
#include "observe/watch/report/figures.hpp"
#include "report/table/text_grid.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t text_width = 110;

std::string heading(const watched_region& region, bool is_one_of_several) {
    std::string text = region.name;
    const std::string kind = word_of(region.kind);
    if (region.name != kind) text += fmt::format(" ({}{})", kind, region.place.empty() ? "" : ", " + region.place);
    text += ": " + counted(region.threads, "thread");
    const bool is_opened = region.kind == hook::region_kind::openmp || region.kind == hook::region_kind::tbb;
    const std::uint64_t times = is_opened ? region.instances : region.entries;
    if (times > region.threads) text += fmt::format(", {} times", whole_text(times));
    text += fmt::format(", over {}: {} of {} time", time_text(region.span_ns), time_text(region.time.total_ns),
                        region.threads == 1 ? "its" : "their");
    if (region.is_open) text += ", not ended";
    if (is_one_of_several) text += fmt::format(" (process {})", region.process);
    return text;
}

void add_part(text_grid& grid, const watched_region& region, std::string_view name, double part, std::string_view about,
              tint shade) {
    if (part < region.time.total_ns * 0.0005) part = part < 1 ? 0 : part;
    if (part <= 0) return;
    grid.add({{std::string{name}, tint::none},
              {percent_text(part, region.time.total_ns), shade},
              {time_text(part), tint::none},
              {std::string{about}, tint::faint}});
}

std::string parts_of(const watched_region& region, colour colours) {
    const region_time& time = region.time;
    const kernel_account& kernel = region.kernel;
    text_grid grid;
    grid.head({"where the time went", "share", "time", ""});
    add_part(grid, region, "running", time.running_ns, {}, tint::none);
    add_part(grid, region, "waiting", time.waiting_ns, about_waiting(region), tint::bad);
    add_part(grid, region, "allocation", time.allocation_ns, about_allocation(region), tint::bad);
    add_part(grid, region, "mapping memory", time.mapping_ns, {}, tint::bad);
    add_part(grid, region, "page faults", time.faults_ns,
             counted(kernel.small_faults + kernel.large_faults, "page") + ", estimated", tint::warning);
    add_part(grid, region, "no processor free", time.queued_ns, counted(kernel.involuntary, "time") + " preempted",
             tint::warning);
    add_part(grid, region, "idle", time.idle_ns, stays_of(region), tint::warning);
    add_part(grid, region, "not explained", time.unexplained_ns, "asleep outside of every intercepted call",
             tint::warning);
    std::string text = grid.str(colours);
    if (kernel.processor_ns > 0) text += wrapped(about_kernel(kernel), text_width) + "\n";
    return text;
}

std::string site_text(const watched_region& region, const watched_site& site, std::size_t number,
                      const text_choice& choice) {
    const double cost = cost_of(site);
    std::string text = fmt::format("{:>3}  {:>7}  {:>9}  {}\n", number, percent_text(cost, region.time.total_ns),
                                   time_text(cost), what_happens(site));
    constexpr std::string_view indent = "                        ";
    std::string figures = counted(site.count, "call") + " in " + threads_of(site);
    if (site.bytes > 0) figures += fmt::format(", {}", bytes_text(site.bytes));
    if (site.waits > 0) {
        figures += fmt::format(", {}, the longest {}", counted(site.waits, "wait"), time_text(site.longest_wait_ns));
    } else {
        figures += fmt::format(", the longest {}", time_text(site.longest_ns));
    }
    if (site.slow > 0)
        figures += fmt::format(", {} slow without sleeping ({})", whole_text(site.slow), time_text(site.slow_ns));
    if (!site.holders.empty()) {
        const auto most =
            std::max_element(site.holders.begin(), site.holders.end(),
                             [](const auto& left, const auto& right) { return left.second < right.second; });
        figures += fmt::format(", held most often by thread {}", most->first);
    }
    text += fmt::format("{}{}\n", indent, figures);
    std::size_t shown_frames = 0;
    for (std::size_t index = site.blamed; index < site.stack.size() && shown_frames < choice.frames; ++index) {
        const named_frame& frame = site.stack[index];
        if (index != site.blamed && (!is_programs_own(frame) || frame.function == "_start")) continue;
        ++shown_frames;
        const std::string place = shown_place(frame);
        text += fmt::format("{}{} {}{}\n", indent, index == site.blamed ? "in" : "by", readable(shown(frame)),
                            place.empty() ? "" : fmt::format(" ({})", place));
    }
    return text;
}

std::string region_text(const watched_region& region, const text_choice& choice, bool is_one_of_several) {
    std::string text = painted(heading(region, is_one_of_several), tint::strong, choice.colours) + "\n\n";
    text += parts_of(region, choice.colours);
    text += fmt::format("Lost to allocation {}, to waiting {}.\n", percent_text(allocation_share(region), 1),
                        percent_text(waiting_share(region), 1));
    std::size_t shown_sites = 0;
    for (const watched_site& each : region.sites) {
        if (shown_sites == choice.sites || (cost_of(each) <= 0 && each.count == 0)) break;
        const bool is_broken = region.kind == hook::region_kind::no_wait && breaks_no_wait(each);
        if (cost_of(each) <= 0 && each.slow == 0 && each.waits == 0 && !is_broken) continue;
        if (shown_sites == 0) text += "\n  #    share       time  what, and where\n";
        text += site_text(region, each, ++shown_sites, choice);
    }
    if (region.sites.size() > shown_sites && shown_sites == choice.sites) {
        text += fmt::format("     … and {} more places (--sites, --json)\n", region.sites.size() - shown_sites);
    }
    if (region.quick_locks > 0) {
        text += fmt::format("\n{} free when {} taken.\n",
                            region.quick_locks == 1 ? "1 lock was" : whole_text(region.quick_locks) + " locks were",
                            region.quick_locks == 1 ? "it was" : "they were");
    }
    text += "\n" + wrapped(region.advice, text_width) + "\n";
    return text;
}

/// The command on one line, cut if it is long.
std::string command_of(const watched_process& process) {
    std::string command = process.command.empty() ? process.program : process.command;
    std::replace_if(
        command.begin(), command.end(), [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
    constexpr std::size_t longest = 100;
    return command.size() <= longest ? command : command.substr(0, longest - 2) + " …";
}

std::string process_text(const watched_process& process) {
    std::string text = fmt::format("{} (process {}{}), {}, {} seen", command_of(process), process.process,
                                   process.is_child ? fmt::format(", a child of {}", process.parent) : "",
                                   time_text(process.span_ns), counted(process.threads, "thread"));
    if (process.signal != 0) {
        text += ", ended by " + signal_text(process.signal);
    } else if (process.end == hook::process_end::none_seen) {
        text += process.has_exit_code
                    ? fmt::format(", ended with code {}, perhaps as another program that was not watched",
                                  process.exit_code)
                    : ", end unknown (killed or crashed)";
    } else if (process.end == hook::process_end::exec) {
        text += ", became another program";
    }
    if (process.lost_threads > 0) text += ", " + counted(process.lost_threads, "thread") + " without a record";
    if (process.lost_sites + process.lost_stacks + process.lost_nodes > 0) {
        text += fmt::format(", {} calls counted without their place (full tables)",
                            process.lost_sites + process.lost_stacks + process.lost_nodes);
    }
    return text + "\n";
}

/// Describes the first process and those with a region, and counts the others.
std::string processes_text(const findings& found) {
    std::string text;
    std::size_t left_out = 0;
    for (std::size_t index = 0; index < found.processes.size(); ++index) {
        const watched_process& process = found.processes[index];
        const bool has_region = std::any_of(found.regions.begin(), found.regions.end(),
                                            [&](const watched_region& each) { return each.recording == index; });
        const bool is_same_as_next = index + 1 < found.processes.size() && index == 0 && !has_region &&
                                     found.processes[1].process == process.process; // it executed another program
        if (has_region || (index == 0 && !is_same_as_next)) {
            text += process_text(process);
        } else {
            ++left_out;
        }
    }
    if (left_out > 0)
        text += fmt::format("… and {} more process{} without a region\n", left_out, left_out == 1 ? "" : "es");
    return text;
}

}

std::string to_text(const findings& found, const text_choice& choice) {
    std::string text;
    text += processes_text(found);
    for (const std::string& each : found.notices) text += wrapped("Note: " + each + ".", text_width) + "\n";
    if (const std::string marks = moments_text(found); !marks.empty()) text += wrapped(marks, text_width) + "\n";
    std::size_t shown_regions = 0;
    for (const watched_region& each : found.regions) {
        if (shown_regions == choice.regions) break;
        text += "\n" + region_text(each, choice, found.processes.size() > 1);
        ++shown_regions;
    }
    if (found.regions.size() > shown_regions)
        text += fmt::format("\n… and {} more regions (--json has them)\n", found.regions.size() - shown_regions);
    if (found.regions.empty()) {
        const no_regions about = about_no_regions(found);
        text += "\n" + wrapped(about.what + " " + about.advice, text_width) + "\n";
    }
    return text;
}

}
