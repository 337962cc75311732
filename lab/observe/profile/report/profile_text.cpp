// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/profile/report/profile_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "observe/symbols/short_names.hpp"
#include "report/letters.hpp"
#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

[[nodiscard]] std::string share_of(double part, double whole) {
    if (whole <= 0) return std::string{"–"};
    const double percent = 100 * part / whole;
    return percent > 0 && percent < 0.1 ? std::string("< 0.1 %") : fmt::format("{:.1f} %", percent);
}

[[nodiscard]] std::string place_line(const named_frame& frame, std::string_view word, std::size_t width) {
    const std::string place = shown_place(frame);
    const std::string text = fmt::format("{}{}{}", word, with_short_names(shown(frame)),
                                         place.empty() ? std::string{} : fmt::format(" ({})", place));
    return fmt::format("       {}\n", elided(text, std::max<std::size_t>(width, 40) - 7));
}

/// The functions of a stack that are shown: innermost first.
[[nodiscard]] std::vector<const named_frame*> functions_of(const profile_stack& stack) {
    std::vector<const named_frame*> found;
    for (const profile_frame& frame : stack.frames) {
        for (const named_frame& each : frame.functions) found.push_back(&each);
    }
    return found;
}

[[nodiscard]] std::string head_of(const named_profile& profile) {
    const auto& header = profile.header;
    std::string text =
        fmt::format("heap profile of {} [{}] over {}; one byte in {} is sampled\n", profile.program, header.process,
                    age_text(header.saved_ms - std::min(header.saved_ms, header.started_ms)),
                    size_text(static_cast<double>(header.mean_bytes)));
    text += fmt::format("live       {} in {} ({})\n", estimate_text(profile.live), blocks_text(profile.live.blocks),
                        count_text(profile.live.samples, "sample"));
    if (header.written_at == profile_format::occasion::peak) {
        text += "saved when the live bytes were highest so far; the next such file would have been saved at a tenth "
                "more, or at twice as much just after this one\n";
    }
    if (header.peak_ms != 0) {
        text += fmt::format("peak       {}, {} after the start\n", estimate_text(profile.at_peak),
                            age_text(header.peak_ms - std::min(header.peak_ms, header.started_ms)));
    }
    text += fmt::format("allocated  {} in {} ({})\n", estimate_text(profile.allocated),
                        blocks_text(profile.allocated.blocks), count_text(profile.allocated.samples, "sample"));
    if (profile.heap_live_bytes != 0) {
        text += fmt::format("the heap itself counts {} live, with what was there before the profile{}\n",
                            size_text(static_cast<double>(profile.heap_live_bytes)),
                            profile.is_calibrated ? "; what is live is corrected by its counts" : "");
    }
    if (profile.unsampled_bytes >= 0.01 * profile.live.bytes && profile.unsampled_bytes >= 1024) {
        text += fmt::format("{} of it are in blocks of sizes without a sample, so in no stack below\n",
                            size_text(profile.unsampled_bytes));
    }
    for (const std::string& each : profile.changed_files)
        text +=
            fmt::format("{} is another build than the one that ran: its functions are not named\n", printable(each));
    if (header.lost_samples != 0) {
        text += fmt::format("{} had no memory for a record: the estimates are too low\n",
                            count_text(header.lost_samples, "sample"));
    }
    return text;
}

[[nodiscard]] std::string groups_of(std::string_view title, const std::vector<profile_group>& groups, double whole) {
    constexpr std::size_t most = 8;
    std::string text = fmt::format("\nlive, by {}\n", title);
    for (std::size_t index = 0; index < std::min(groups.size(), most); ++index) {
        const profile_group& each = groups[index];
        text +=
            fmt::format("  {:>24}  {:>8}  {}\n", estimate_text(each.live), share_of(each.live.bytes, whole), each.name);
    }
    if (groups.size() > most) text += fmt::format("  … and {} more\n", groups.size() - most);
    return text;
}

}

std::string frames_text(const profile_stack& stack, std::size_t most, std::size_t width) {
    std::string text;
    const std::vector<const named_frame*> functions = functions_of(stack);
    const std::size_t count = std::min(functions.size(), most);
    for (std::size_t index = 0; index < count; ++index)
        text += place_line(*functions[index], index == 0 ? "" : "by ", width);
    if (count < functions.size()) text += fmt::format("       … {} more\n", functions.size() - count);
    return text;
}

const char* word_of(profile_value value) {
    if (value == &profile_stack::allocated) return "allocated";
    return value == &profile_stack::live ? "live" : "live at the peak";
}

std::string size_text(double bytes) {
    constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    double shown_value = std::fabs(bytes);
    for (; shown_value >= 1023.5 && unit + 1 < units.size(); ++unit) shown_value /= 1024;
    const char* const sign = bytes < 0 ? "−" : "";
    return unit == 0 ? fmt::format("{}{:.0f} B", sign, shown_value)
                     : fmt::format("{}{} {}", sign, value_text(shown_value), units[unit]);
}

std::string estimate_text(const profile_format::estimate& of) {
    const double error = error_of(of);
    return error < 0.5 ? size_text(of.bytes) : fmt::format("{} ± {}", size_text(of.bytes), size_text(error));
}

std::string blocks_text(double blocks) {
    const double whole = std::max(std::round(blocks), 0.0);
    return fmt::format("{} block{}", short_text(whole), whole == 1 ? "" : "s");
}

std::string more_text(std::size_t stacks) { return fmt::format("     … and {}\n", count_text(stacks, "more stack")); }

std::string age_text(std::uint64_t ms) {
    constexpr std::uint64_t second = 1000, minute = 60 * second, hour = 60 * minute;
    if (ms < minute) return fmt::format("{} s", value_text(static_cast<double>(ms) / double(second)));
    if (ms < hour) return fmt::format("{} min {} s", ms / minute, ms % minute / second);
    return fmt::format("{} h {} min", ms / hour, ms % hour / minute);
}

std::string to_text(const named_profile& profile, const profile_choice& choice) {
    std::string text = head_of(profile);
    std::vector<const profile_stack*> order;
    for (const profile_stack& each : profile.stacks) {
        if ((each.*choice.value).samples != 0) order.push_back(&each);
    }
    std::stable_sort(order.begin(), order.end(), [&](const profile_stack* a, const profile_stack* b) {
        return (a->*choice.value).bytes > (b->*choice.value).bytes;
    });
    double whole = 0;
    for (const profile_stack* const each : order) whole += (each->*choice.value).bytes;
    text += fmt::format("\n  #  bytes {}, by call stack\n", word_of(choice.value));
    const std::size_t count = std::min(order.size(), choice.stacks);
    for (std::size_t index = 0; index < count; ++index) {
        const profile_stack& stack = *order[index];
        const profile_format::estimate& value = stack.*choice.value;
        text += fmt::format("{:>3}  {}  {} in {}{}", index + 1, share_of(value.bytes, whole), estimate_text(value),
                            blocks_text(value.blocks),
                            stack.tag.empty() ? std::string{} : fmt::format("  [{}]", stack.tag));
        if (choice.value == &profile_stack::live)
            text += fmt::format("; half older than {}", age_text(stack.median_age_ms));
        text += "\n";
        text += frames_text(stack, choice.frames, choice.width);
    }
    if (order.empty()) text += "     none: nothing of it was sampled\n";
    if (count < order.size()) text += more_text(order.size() - count);
    if (profile.tags.size() > 1) text += groups_of("owner tag", profile.tags, profile.live.bytes);
    if (profile.threads.size() > 1) text += groups_of("allocating thread", profile.threads, profile.live.bytes);
    text += "\n± is what 95 of 100 estimates are off by at most, by the chance of sampling.\n";
    return text;
}

}
