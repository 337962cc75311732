// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The report of the first request that the limit refuses: who holds what.

#include <tenure/heap/detail/use_limit.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/heap/heap_usage.hpp>
#include <tenure/platform/program.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// The first two elect a thread by an exchange, the one that reports and the one that writes `standard_error`; relaxed
// would do. The third is released after that is written, and the report acquires it.
constinit std::atomic<bool> is_reported{false};
constinit std::atomic<bool> is_file_wanted{false};
constinit std::atomic<bool> is_file_kept{false};
constinit platform::kept_file
    standard_error{}; // as of the start or the first limit: a program may open a file of its own there

/// The whole report: one write, so that the reports of several processes do not mix. There is one in a process, and its
/// memory is untouched until then. What does not fit is left out.
struct report_buffer {
    char text[std::size_t{32} * 1024];
    std::size_t length;
};
constinit report_buffer buffer{};

void append(std::string_view piece) noexcept {
    const std::size_t count = std::min(piece.size(), sizeof buffer.text - buffer.length);
    if (count != 0) std::memcpy(buffer.text + buffer.length, piece.data(), count);
    buffer.length += count;
}
void append(const report_text& text) noexcept { append(text.view()); }

/// A name may contain any character; characters that JSON would escape are replaced by '?'.
void append_name(std::string_view name) noexcept {
    for (const char& letter : name) {
        const bool is_plain = letter >= ' ' && letter != '"' && letter != '\\' && letter != '\x7f';
        append(is_plain ? std::string_view{&letter, 1} : std::string_view{"?"});
    }
}

void append_tags(const heap_core& core, usage_form form) noexcept {
    const bool is_json = form == usage_form::json;
    bool is_first = true;
    for (std::size_t id = 1; id < tag::count(); ++id) {
        const tagged_usage usage = core.usage_of_tag(static_cast<std::uint16_t>(id));
        if (usage.live_count == 0) continue;
        report_text figures;
        append(is_json ? (is_first ? "{\"name\": \"" : ", {\"name\": \"") : "  tag ");
        append_name(tag::from_id(static_cast<std::uint16_t>(id)).name());
        if (is_json) {
            append(figures.text("\", \"live_count\": ").number(usage.live_count).text(", \"live_bytes\": "));
            append(report_text{}.number(usage.live_bytes).text("}"));
        } else {
            append(figures.text(": ").number(usage.live_bytes).text(" bytes in ").number(usage.live_count));
            append(" blocks\n");
        }
        is_first = false;
    }
}

}

void use_limit::keep_standard_error() noexcept {
    if (is_file_wanted.exchange(true)) return;
    standard_error = platform::copy_of_standard_error();
    is_file_kept.store(true, std::memory_order_release);
}

void heap_core::set_use_limit(std::size_t bytes) noexcept {
    if (bytes != 0) use_limit::keep_standard_error();
    memory_.limit_of_use().set(bytes);
}

void heap_core::report_refusal(std::size_t bytes) noexcept {
    const use_limit& limit = memory_.limit_of_use();
    // A small block needs a page of its size.
    const std::size_t class_index = class_for(bytes, default_alignment);
    const std::size_t least = class_index < small_class_count ? slices_of_page(class_index) * slice_bytes : 0;
    if (limit.allows(memory_.in_use_bytes(), std::max(bytes, least)) || is_reported.exchange(true)) return;
    constexpr std::uint64_t as_json = 2;
    const usage_form form = option_value(option::malloc_stats) == as_json ? usage_form::json : usage_form::text;
    heap_usage held = usage();
    held.name = "process";
    report_text head, rest;
    const auto write = [](void*, std::string_view piece) { append(piece); };
    if (form == usage_form::json) {
        append("{\"allocator\":\"tenure\",\"event\":\"refused\",\"program\":\"");
        append_name(platform::program_name());
        head.text("\",\"pid\":").number(platform::process_id()).text(",\"request_bytes\":").number(bytes);
        append(head.text(",\"limit_bytes\":").number(limit.bytes()).text(",\"tags\":["));
        append_tags(*this, form);
        append("],\"heap\":");
        write_usage(held, form, write, nullptr);
        if (buffer.length != 0 && buffer.text[buffer.length - 1] == '\n') --buffer.length;
        append("}\n");
    } else {
        head.text("tenure: ").text(platform::program_name()).text(" [").number(platform::process_id());
        append(head.text("]: a request of ").number(bytes).text(" bytes was refused, because the process heap has "));
        rest.number(held.in_use_bytes).text(" of at most ").number(limit.bytes()).text(" bytes in use ");
        append(rest.text("(option heap_limit_bytes). Further refusals are not reported. Who holds what:\n"));
        write_usage(held, form, write, nullptr);
        append_tags(*this, form);
    }
    // Another thread may be setting the first limit just now: standard error is then as it was.
    const bool is_kept = is_file_kept.load(std::memory_order_acquire);
    platform::write_to(is_kept ? standard_error : platform::copy_of_standard_error(), {buffer.text, buffer.length});
}

}
