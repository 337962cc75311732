// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/report/trace_text.hpp"

#include <array>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/numbers.hpp"

namespace tenure::lab {

namespace {

constexpr std::array families{"malloc", "zeroed", "aligned", "operator_new", "aligned_new"};
constexpr std::array calls{"allocate", "deallocate", "resize", "frame", "mark"};

[[nodiscard]] std::string number(std::uint64_t value) { return integer_text(static_cast<std::int64_t>(value)); }

[[nodiscard]] std::string bytes_text(std::uint64_t bytes) {
    constexpr double kib = 1024, mib = kib * kib, gib = mib * kib;
    const auto value = static_cast<double>(bytes);
    if (value < kib) return count_text(bytes, "byte");
    if (value < mib) return value_text(value / kib) + " KiB";
    return value < gib ? value_text(value / mib) + " MiB" : value_text(value / gib) + " GiB";
}

[[nodiscard]] std::string time_text(std::uint64_t ns) {
    constexpr double us = 1e3, ms = 1e6, s = 1e9;
    const auto value = static_cast<double>(ns);
    if (value < us) return fmt::format("{} ns", ns);
    if (value < ms) return value_text(value / us) + " us";
    return value < s ? value_text(value / ms) + " ms" : value_text(value / s) + " s";
}

[[nodiscard]] std::string command_of(const trace& of) {
    std::string text;
    for (const std::string& each : of.arguments) text += (text.empty() ? "" : " ") + each;
    return text.empty() ? "not known" : text;
}

[[nodiscard]] double bytes_per_event(const trace& of, std::uint64_t file_bytes) {
    return of.events.empty() ? 0 : static_cast<double>(file_bytes) / static_cast<double>(of.events.size());
}

[[nodiscard]] std::string accesses_text(std::uint64_t count) {
    return number(count) + (count == 1 ? " access" : " accesses");
}

/// A table of buckets; `limit` writes their upper limits.
[[nodiscard]] std::string table(const std::vector<trace_bucket>& buckets, const std::string& title,
                                const std::function<std::string(std::uint64_t)>& limit) {
    std::uint64_t all = 0;
    for (const trace_bucket& each : buckets) all += each.blocks;
    if (all == 0) return {};
    std::string text = fmt::format("\n{:<24}{:>16}{:>9}{:>16}\n", title, "blocks", "", "bytes");
    for (std::size_t index = 0; index < buckets.size(); ++index) {
        const trace_bucket& each = buckets[index];
        const std::string name =
            each.below != 0 ? "below " + limit(each.below) : limit(buckets[index - 1].below) + " and more";
        text += fmt::format("{:<24}{:>16}{:>9}{:>16}\n", name, number(each.blocks), share_text(each.blocks, all),
                            bytes_text(each.bytes));
    }
    return text;
}

[[nodiscard]] nlohmann::json json_of(const std::vector<trace_bucket>& buckets) {
    nlohmann::json all = nlohmann::json::array();
    for (const trace_bucket& each : buckets) {
        nlohmann::json row{{"blocks", each.blocks}, {"bytes", each.bytes}};
        row["below"] = each.below != 0 ? nlohmann::json(each.below) : nlohmann::json();
        all.push_back(std::move(row));
    }
    return all;
}

[[nodiscard]] nlohmann::json json_of(const std::optional<trace_part>& part) {
    if (!part.has_value()) return {};
    return {{"from_ns", part->from_ns},
            {"to_ns", part->to_ns == UINT64_MAX ? nlohmann::json() : nlohmann::json(part->to_ns)},
            {"of_ns", part->whole_ns}};
}

}

std::string_view name_of(trace_family family) { return families[static_cast<std::size_t>(family)]; }
std::string_view name_of(trace_call call) { return calls[static_cast<std::size_t>(call)]; }

std::string to_text(const trace& of, const trace_figures& figures, std::uint64_t file_bytes) {
    std::string text;
    const auto line = [&](std::string_view name, const std::string& value) {
        text += fmt::format("{:<18}{}\n", name, value);
    };
    line("program", fmt::format("{}, process {}", command_of(of), of.process));
    line("duration", time_text(figures.duration_ns));
    line("threads", number(of.threads));
    line("events",
         fmt::format("{}: {}, {}, {}", number(of.events.size()), count_text(figures.allocations, "allocation"),
                     count_text(figures.resizes, "resize"), count_text(figures.deallocations, "free")));
    std::string by;
    for (std::size_t index = 0; index < families.size(); ++index) {
        if (figures.by_family[index] == 0) continue;
        by += fmt::format("{}{} {}", by.empty() ? "" : ", ", families[index], number(figures.by_family[index]));
    }
    if (!by.empty()) line("allocated by", by);
    line("allocated", bytes_text(figures.allocated_bytes));
    line("most in use", fmt::format("{} after {}; {}", bytes_text(figures.peak_bytes), time_text(figures.peak_time_ns),
                                    count_text(figures.peak_blocks, "block")));
    line("in use at the end",
         fmt::format("{} in {}", bytes_text(figures.live_bytes), count_text(figures.live_blocks, "block")));
    line("freed elsewhere",
         fmt::format("{} by another thread than allocated them", count_text(figures.cross_thread, "block")));
    line("unknown frees", fmt::format("{}, of blocks from before the recording", number(of.unknown_frees)));
    if (figures.frames + figures.marks != 0)
        line("frames", fmt::format("{}, and {}", number(figures.frames), count_text(figures.marks, "mark")));
    if (of.stacks.size() > 1)
        line("call stacks", number(of.stacks.size() - 1) + (of.has_free_stacks ? "" : ", none of frees"));
    if (of.sample_bytes != 0)
        line("sample", fmt::format("one in {} bytes: all figures are of the sample", number(of.sample_bytes)));
    if (!of.windows.empty()) {
        line("watched",
             fmt::format("{}, up to four at a time, in {} of {} in all", count_text(figures.watched_blocks, "block"),
                         count_text(of.windows.size(), "window"), time_text(figures.watched_ns)));
        line("touched",
             fmt::format("{} of these blocks; {}", share_text(figures.touched_blocks, figures.watched_blocks),
                         accesses_text(figures.accesses)));
    }
    if (of.part.has_value()) {
        const trace_part& part = *of.part;
        line("part",
             fmt::format("from {} to {} of a trace of {}", time_text(part.from_ns),
                         part.to_ns == UINT64_MAX ? "the end" : time_text(part.to_ns), time_text(part.whole_ns)));
        line("older blocks",
             fmt::format("{}, in use when the part begins: they count as allocated then", number(part.older_blocks)));
    }
    if (of.is_part) {
        line("file", fmt::format("{}, of which this is a part", bytes_text(file_bytes)));
    } else {
        line("file", fmt::format("{}, {} bytes for each event", bytes_text(file_bytes),
                                 value_text(bytes_per_event(of, file_bytes))));
    }
    text += table(figures.sizes, "size", bytes_text);
    text += table(figures.times, "freed after", time_text);
    text += table(figures.distances, "freed after allocations", number);
    return text;
}

std::string to_json(const trace& of, const trace_figures& figures, std::uint64_t file_bytes) {
    nlohmann::json by_family;
    for (std::size_t index = 0; index < families.size(); ++index) by_family[families[index]] = figures.by_family[index];
    const nlohmann::json all{
        {"arguments", of.arguments},
        {"process", of.process},
        {"duration_ns", figures.duration_ns},
        {"threads", of.threads},
        {"events", of.events.size()},
        {"allocations", figures.allocations},
        {"resizes", figures.resizes},
        {"deallocations", figures.deallocations},
        {"frames", figures.frames},
        {"marks", of.marks},
        {"allocations_by_family", by_family},
        {"allocated_bytes", figures.allocated_bytes},
        {"peak_bytes", figures.peak_bytes},
        {"peak_time_ns", figures.peak_time_ns},
        {"peak_blocks", figures.peak_blocks},
        {"live_bytes_at_end", figures.live_bytes},
        {"live_blocks_at_end", figures.live_blocks},
        {"freed_by_another_thread", figures.cross_thread},
        {"unknown_frees", of.unknown_frees},
        {"stacks", of.stacks.size() - 1},
        {"has_free_stacks", of.has_free_stacks},
        {"sample_bytes", of.sample_bytes},
        {"file_bytes", file_bytes},
        {"bytes_per_event", of.is_part ? nlohmann::json() : nlohmann::json(bytes_per_event(of, file_bytes))},
        {"is_part", of.is_part},
        {"part", json_of(of.part)},
        {"older_blocks", of.part.has_value() ? of.part->older_blocks : 0},
        {"windows", of.windows.size()},
        {"watched_ns", figures.watched_ns},
        {"watched_blocks", figures.watched_blocks},
        {"touched_blocks", figures.touched_blocks},
        {"accesses", figures.accesses},
        {"damage", of.damage},
        {"sizes", json_of(figures.sizes)},
        {"lifetimes_ns", json_of(figures.times)},
        {"lifetimes_in_allocations", json_of(figures.distances)},
    };
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}
