// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/report/trace_export.hpp"

#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/trace/report/trace_text.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t part_bytes = 64 * 1024;

[[nodiscard]] bool has_block(const trace_event& event) {
    return event.call == trace_call::allocate || event.call == trace_call::deallocate ||
           event.call == trace_call::resize;
}

/// Collects text, and passes it on in parts.
class parts {
public:
    explicit parts(const text_sink& to) : to_(to) {}
    [[nodiscard]] std::string& text() { return text_; }
    /// Returns   false when nothing more can be written.
    [[nodiscard]] bool pass_on(std::size_t least = part_bytes) {
        if (text_.size() < least) return true;
        const bool is_written = to_(text_);
        text_.clear();
        return is_written;
    }

private:
    const text_sink& to_;
    std::string text_;
};

/// A field of CSV, in quotes where it needs them.
[[nodiscard]] std::string field(const std::string& text) {
    if (text.find_first_of("\",\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char each : text) quoted += each == '"' ? std::string("\"\"") : std::string(1, each);
    return quoted + '"';
}

[[nodiscard]] std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

[[nodiscard]] std::string_view name_of_choice(window_choice choice) {
    constexpr std::array<std::string_view, 3> names{"random", "successive", "matched"};
    return names[static_cast<std::size_t>(choice)];
}

/// Calls `visit` for each watched block of each window, and then for each of its accesses, with the access.
template<class Visit>
void visit_windows(const trace& of, Visit&& visit) {
    for (const access_window& window : of.windows) {
        for (const watched_block& block : window.blocks) {
            if (!visit(window, block, nullptr)) return;
            for (const trace_access& each : block.accesses)
                if (!visit(window, block, &each)) return;
        }
    }
}

}

void export_csv(const trace& of, const text_sink& to) {
    parts out(to);
    out.text() = "time_ns,thread,call,block,bytes,family,alignment,stack\n";
    for (const trace_event& each : of.events) {
        auto at = std::back_inserter(out.text());
        fmt::format_to(at, "{},{},{},", each.time_ns, each.thread, name_of(each.call));
        if (has_block(each)) {
            fmt::format_to(at, "{},{},{},{},", each.block, each.bytes, name_of(each.family),
                           std::uint64_t{1} << each.alignment_log2);
            if (each.stack != 0) fmt::format_to(at, "{}", each.stack);
        } else {
            fmt::format_to(at, "{},,,,", each.call == trace_call::mark ? field(of.marks[each.block]) : std::string());
        }
        out.text() += '\n';
        if (!out.pass_on()) return;
    }
    visit_windows(of, [&](const access_window& window, const watched_block& block, const trace_access* access) {
        auto at = std::back_inserter(out.text());
        if (access == nullptr)
            fmt::format_to(at, "{},,watch,{},{},,,\n", window.begin_ns, block.block, block.offset);
        else
            fmt::format_to(at, "{},,access,{},{},,,\n", access->time_ns, block.block, block.offset);
        return out.pass_on();
    });
    static_cast<void>(out.pass_on(1));
}

void export_json_lines(const trace& of, const text_sink& to) {
    parts out(to);
    for (std::size_t index = 1; index < of.stacks.size(); ++index) {
        fmt::format_to(std::back_inserter(out.text()), "{{\"stack\":{},\"frames\":[", index);
        for (std::size_t frame = 0; frame < of.stacks[index].frames.size(); ++frame)
            fmt::format_to(std::back_inserter(out.text()), "{}\"{:#x}\"", frame == 0 ? "" : ",",
                           of.stacks[index].frames[frame]);
        out.text() += "]}\n";
        if (!out.pass_on()) return;
    }
    for (const trace_event& each : of.events) {
        auto at = std::back_inserter(out.text());
        fmt::format_to(at, "{{\"time_ns\":{},\"thread\":{},\"call\":\"{}\"", each.time_ns, each.thread,
                       name_of(each.call));
        if (has_block(each)) {
            fmt::format_to(at, ",\"block\":{},\"bytes\":{},\"family\":\"{}\",\"alignment\":{}", each.block, each.bytes,
                           name_of(each.family), std::uint64_t{1} << each.alignment_log2);
            if (each.stack != 0) fmt::format_to(at, ",\"stack\":{}", each.stack);
        } else if (each.call == trace_call::mark) {
            fmt::format_to(at, ",\"name\":{}", json_text(of.marks[each.block]));
        }
        out.text() += "}\n";
        if (!out.pass_on()) return;
    }
    std::size_t number = 0;
    const access_window* before = nullptr;
    visit_windows(of, [&](const access_window& window, const watched_block& block, const trace_access* access) {
        auto at = std::back_inserter(out.text());
        number += std::size_t{&window != before};
        before = &window;
        if (access == nullptr)
            fmt::format_to(at,
                           "{{\"window\":{},\"time_ns\":{},\"end_ns\":{},\"choice\":\"{}\",\"watched\":{},"
                           "\"offset\":{},\"accesses\":{}}}\n",
                           number, window.begin_ns, window.end_ns, name_of_choice(window.choice), block.block,
                           block.offset, block.count);
        else
            fmt::format_to(
                at, "{{\"window\":{},\"time_ns\":{},\"accessed\":{},\"thread_of_window\":{},\"code\":\"{:#x}\"}}\n",
                number, access->time_ns, block.block, access->thread, access->code);
        return out.pass_on();
    });
    static_cast<void>(out.pass_on(1));
}

}
