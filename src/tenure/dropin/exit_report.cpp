// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The report at exit, enabled by TENURE_MALLOC_STATS: one line of text or JSON, so that the lines of several processes
/// do not mix.

#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/dropin/detail/figures.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::dropin {

namespace {

constexpr std::uint64_t as_text = 1, as_json = 2;

constinit platform::kept_file standard_error{}; // as of the start: programs may close theirs before the report

__attribute__((constructor)) void prepare_report() noexcept {
    if (option_value(option::malloc_stats) != 0) standard_error = platform::copy_of_standard_error();
}

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

void say_text(report_text& line, const figures& now) noexcept {
    line.text("tenure_malloc: ").text(platform::program_name()).text(" [").number(platform::process_id());
    line.text("]: peak in use ");
    say_bytes(line, now.all.peak_bytes);
    line.text(", at exit ");
    say_bytes(line, now.all.live_bytes);
    line.text(" in ")
        .number(now.all.live_count)
        .text(now.all.live_count == 1 ? " block; reserved " : " blocks; reserved ");
    say_bytes(line, now.all.reserved_bytes);
    line.text("; peak resident size of the process ");
    say_bytes(line, platform::peak_resident_bytes());
    line.text("; the C library's own heap ");
    say_bytes(line, c_library_bytes());
    line.text("\n");
}

/// A program's name may contain any character; characters that JSON would escape are replaced by '?'.
void say_name(report_text& line, std::string_view name) noexcept {
    for (const char& letter : name) {
        const bool is_plain = letter >= ' ' && letter != '"' && letter != '\\' && letter != '\x7f';
        line.text(is_plain ? std::string_view{&letter, 1} : std::string_view{"?"});
    }
}

void say_json(report_text& line, const figures& now) noexcept {
    line.text("{\"allocator\":\"tenure\",\"checks\":").number(checks::level).text(",\"program\":\"");
    say_name(line, platform::program_name());
    line.text("\",\"pid\":").number(platform::process_id());
    line.text(",\"peak_bytes\":").number(now.all.peak_bytes);
    line.text(",\"live_bytes\":").number(now.all.live_bytes);
    line.text(",\"live_count\":").number(now.all.live_count);
    line.text(",\"reserved_bytes\":").number(now.all.reserved_bytes);
    line.text(",\"source_blocks\":").number(now.all.source_blocks);
    line.text(",\"peak_resident_bytes\":").number(platform::peak_resident_bytes());
    line.text(",\"c_library_bytes\":").number(c_library_bytes()).text("}\n");
}

// Runs after the program's own destructors: the drop-in is loaded before all its libraries except the C library.
__attribute__((destructor)) void write_report() noexcept {
    if (!platform::is_still_open(standard_error)) return;
    report_text line;
    const std::uint64_t form = option_value(option::malloc_stats);
    if (form == as_text) say_text(line, figures_now());
    if (form == as_json) say_json(line, figures_now());
    platform::write_to(standard_error.number, line.view());
}

}

}
