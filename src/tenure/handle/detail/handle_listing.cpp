// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// Lists a table's live handles: for reports, for tests and at the end of the program.

#include <algorithm>
#include <string_view>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/usage_text.hpp>
#include <tenure/handle/detail/handle_holders.hpp>
#include <tenure/handle/detail/handle_record.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/platform/clock.hpp>
#include <tenure/platform/readable.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::size_t max_reported = 20;
constexpr std::size_t max_kind_bytes = 128;

/// Bytes of the UTF-8 code point at the start of `text`; zero if it is not valid.
[[nodiscard]] std::size_t letter_bytes(std::string_view text) noexcept {
    const auto byte_at = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte_at(0);
    if (lead < 0x80) return 1;
    const std::size_t bytes = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (bytes == 0 || bytes > text.size()) return 0;
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte_at(at) & 0xC0) != 0x80) return 0;
    }
    // Overlong, a surrogate, or past U+10FFFF.
    const bool is_none = (lead == 0xE0 && byte_at(1) < 0xA0) || (lead == 0xED && byte_at(1) > 0x9F) ||
                         (lead == 0xF0 && byte_at(1) < 0x90) || (lead == 0xF4 && byte_at(1) > 0x8F);
    return is_none ? 0 : bytes;
}

/// Writes a handle's kind as JSON or as text: up to max_kind_bytes, ending at a code point. Invalid UTF-8 becomes
/// U+FFFD; control characters are escaped in JSON and become question marks in text.
void say_kind(report_text& to, std::string_view kind, usage_form form) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t at = 0, bytes = 0; at < kind.size(); at += std::max<std::size_t>(bytes, 1)) {
        bytes = letter_bytes({kind.data() + at, kind.size() - at});
        if (at + std::max<std::size_t>(bytes, 1) > max_kind_bytes) return;
        const auto code = static_cast<unsigned char>(kind[at]);
        if (bytes == 0) {
            to.text("\xEF\xBF\xBD");
        } else if (code < ' ' || code == 0x7F) {
            const char escape[] = {'\\', 'u', '0', '0', digits[code / 16], digits[code % 16]};
            to.text(form == usage_form::json ? std::string_view{escape, sizeof escape} : "?");
        } else {
            if (form == usage_form::json && (code == '"' || code == '\\')) to.text("\\");
            to.text({kind.data() + at, bytes});
        }
    }
}

/// The first bytes of a kind: a few more than are written, so that the code point at the end is seen whole. The text
/// may have been in a plug-in that is unloaded.
[[nodiscard]] std::string_view begin_of(const char* kind) noexcept {
    const std::string_view whole = platform::text_or(kind, "of an unloaded file");
    return {whole.data(), std::min(whole.size(), max_kind_bytes + 3)};
}

/// Writes an age with at most three digits and a unit.
void say_age(report_text& text, std::uint64_t age_ns) noexcept {
    constexpr std::uint64_t ms = 1'000'000, s = 1000 * ms, min = 60 * s, h = 60 * min, day = 24 * h;
    struct unit {
        std::uint64_t ns, from;
        std::string_view name;
    };
    constexpr unit units[] = {{day, 3 * day, " days"}, {h, 3 * h, " h"}, {min, 3 * min, " min"}, {s, s, " s"}};
    for (const unit& each : units) {
        if (age_ns < each.from) continue;
        text.number(age_ns / each.ns);
        if (age_ns < 10 * each.ns) text.text(".").number(age_ns % each.ns * 10 / each.ns);
        text.text(each.name);
        return;
    }
    age_ns < ms ? text.text("less than 1 ms") : text.number(age_ns / ms).text(" ms");
}

void say(report_text& text, const handle_info& info) noexcept {
    say_kind(text, begin_of(info.kind), usage_form::text);
    text.text(" of ").number(info.which.bytes).text(" bytes at ").address(info.which.pointer);
    text.text(", owner ").text(info.owner.name()).text(", has been live for ");
    say_age(text, info.age_ns);
    if (info.holders != 0) text.text(", held ").number(info.holders).text(info.holders == 1 ? " time" : " times");
}

}

/// Returns   whether the entry is live and the values in `into` belong together. Copies its stack to `frames`.
bool handle_table::read(std::uint32_t entry, handle_info& into, void** frames) const noexcept {
    // Acquire for every load: a thread that sees a value of the entry's next use then sees the changed word at the end.
    constexpr auto order = std::memory_order_acquire;
    const detail::handle_word& word = words_.load(std::memory_order_relaxed)[entry];
    const std::uint64_t before = word.load(order);
    const std::uint32_t generation = detail::generation_in(before);
    if (generation % 2 == 0) return false;
    const detail::handle_record& record = records_.load(std::memory_order_relaxed)[entry];
    into.which = {record.pointer.load(order), record.bytes.load(order), entry, generation};
    into.holders = detail::holders_in(before);
    into.owner = tag::from_id(record.tag.load(order));
    const char* const kind = record.kind.load(order);
    into.kind = kind != nullptr ? kind : "memory";
    const std::uint64_t now = platform::coarse_ns(), born = record.born_ns.load(order);
    into.age_ns = now > born ? now - born : 0;
    const detail::handle_stack* const stacks = stacks_.load(order);
    const std::size_t count = stacks == nullptr ? 0 : record.frame_count.load(order);
    into.stack_count = std::min(count, detail::handle_stack::capacity);
    for (std::size_t index = 0; index < into.stack_count; ++index)
        frames[index] = stacks[entry].frames[index].load(order);
    into.stack = into.stack_count == 0 ? nullptr : frames;
    return detail::generation_in(word.load(std::memory_order_relaxed)) == generation;
}

void handle_table::visit_live(void (*visit)(void* context, const handle_info&), void* context) const noexcept {
    const std::uint32_t end = entries_end_.load(std::memory_order_acquire);
    void* frames[detail::handle_stack::capacity];
    for (std::uint32_t entry = 1; entry < end; ++entry) {
        handle_info info;
        if (read(entry, info, frames)) visit(context, info);
    }
}

handle_usage handle_table::usage() const noexcept {
    handle_usage usage;
    for_each_live([&](const handle_info& info) {
        ++usage.live_count;
        usage.live_bytes += info.which.bytes;
        usage.held_count += info.holders != 0;
    });
    const std::uint32_t end = entries_end_.load(std::memory_order_acquire);
    const detail::handle_word* const words = words_.load(std::memory_order_relaxed);
    for (std::uint32_t entry = 1; entry < end; ++entry) {
        const std::uint32_t generation = detail::generation_in(words[entry].load(std::memory_order_relaxed));
        usage.entry_count += generation != options_.first_generation;
        usage.retired_count += generation == detail::retired_generation;
    }
    return usage;
}

std::size_t handle_table::report_live(std::uint64_t least_age_ns) const noexcept {
    std::size_t count = 0, bytes = 0;
    for_each_live([&](const handle_info& info) {
        if (info.age_ns < least_age_ns) return;
        bytes += info.which.bytes;
        if (++count > max_reported) return;
        report_text text;
        say(text, info);
        text.text(". Remove its handle (or free its buffer) when it is no longer needed.");
        report(report_kind::leak, text.view());
        if (info.stack_count != 0) host::write_stack(info.stack, info.stack_count);
    });
    if (count > max_reported) {
        report_text text;
        text.number(count).text(" handles are live, with ").number(bytes).text(" bytes; only the first ");
        text.number(max_reported).text(" were reported.");
        report(report_kind::leak, text.view());
    }
    return count;
}

bool handle_table::valid() const noexcept {
    const std::uint32_t end = entries_end_.load(std::memory_order_acquire);
    const detail::handle_word* const words = words_.load(std::memory_order_relaxed);
    const detail::handle_record* const records = records_.load(std::memory_order_relaxed);
    const detail::handle_generation* const generations = generations_.load(std::memory_order_relaxed);
    if (detail::generation_in(words[0].load(std::memory_order_relaxed)) != detail::retired_generation) return false;
    std::size_t free_count = 0, listed_count = 0;
    for (std::uint32_t entry = 1; entry < end; ++entry) {
        const std::uint64_t word = words[entry].load(std::memory_order_relaxed);
        const std::uint32_t generation = detail::generation_in(word);
        const bool is_live = generation % 2 == 1;
        if (!is_live && detail::holders_in(word) != 0) return false;
        if (generations[entry].load(std::memory_order_relaxed) != generation) return false;
        // Lines that other stacks have not taken yet are between those in use.
        const bool is_taken =
            entry / entries_per_line / stack_count < stacks_of_free_[stack_of(entry)].next_line.load();
        free_count += !is_live && generation != detail::retired_generation && is_taken;
    }
    for (std::uint32_t stack = 0; stack < stack_count; ++stack) {
        auto entry = static_cast<std::uint32_t>(stacks_of_free_[stack].top.load(std::memory_order_acquire));
        for (; entry != 0; entry = records[entry].next.load(std::memory_order_relaxed)) {
            const bool is_free = entry < end && detail::generation_in(words[entry].load()) % 2 == 0;
            if (!is_free || stack_of(entry) != stack || ++listed_count > free_count) return false;
        }
    }
    return listed_count == free_count;
}

bool detail::is_of_used_entry(const handle& which) noexcept {
    return which.entry != 0 && which.entry < handle_table_access::entries_end(handle_table::process());
}

void detail::report_handles_at_exit() noexcept {
    const handle_table& table = handle_table::process();
    if (option_value(option::handle_report) == 1) {
        table.report_live();
        return;
    }
    const handle_usage usage = table.usage();
    const usage_figure figures[] = {{"live_count", "", usage.live_count, false},
                                    {"live_bytes", "", usage.live_bytes, true},
                                    {"held_count", "", usage.held_count, false}};
    const usage_writer write{usage_form::json, [](void*, std::string_view piece) { host::write_report(piece); },
                             nullptr};
    write_figures(write, "handles", "process", figures);
    write(", \"handles\": [");
    bool is_first = true;
    table.for_each_live([&](const handle_info& info) {
        report_text text;
        text.text(is_first ? "" : ", ").text("{\"kind\": \"");
        say_kind(text, begin_of(info.kind), usage_form::json);
        text.text("\", \"bytes\": ")
            .number(info.which.bytes)
            .text(", \"holders\": ")
            .number(info.holders)
            .text(", \"age_ns\": ");
        text.number(info.age_ns).text("}");
        write(text.view());
        is_first = false;
    });
    write("]}\n");
}

}
