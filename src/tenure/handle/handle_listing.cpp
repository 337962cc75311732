// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// What a table has live: for reports, for tests, and at the program's end.

#include <algorithm>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/base/usage_text.hpp>
#include <tenure/handle/handle_record.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/platform/clock.hpp>

namespace tenure::inline TENURE_ABI {

namespace {

constexpr std::size_t most_reported = 20;

void say(report_text& text, const handle_info& info) noexcept {
    constexpr std::uint64_t second_ns = 1'000'000'000;
    text.text(info.kind).text(" of ").number(info.which.bytes).text(" bytes at ").address(info.which.pointer);
    text.text(", owner ").text(info.owner.name()).text(", is live since ").number(info.age_ns / second_ns).text(" s");
    if (info.holders != 0) text.text(", held ").number(info.holders).text(info.holders == 1 ? " time" : " times");
}

}

/// Returns   whether the entry is live, and what `into` says belongs together. Its stack is copied to `frames`.
bool handle_table::read(std::uint32_t entry, handle_info& into, void** frames) const noexcept {
    // Every load an acquire: whoever sees something of the entry's next use sees its word changed at the end.
    constexpr auto order = std::memory_order_acquire;
    detail::handle_word const& word = words_.load(std::memory_order_relaxed)[entry];
    std::uint64_t const before = word.load(order);
    std::uint32_t const generation = detail::generation_in(before);
    if (generation % 2 == 0) return false;
    detail::handle_record const& record = records_.load(std::memory_order_relaxed)[entry];
    into.which = {record.pointer.load(order), record.bytes.load(order), entry, generation};
    into.holders = detail::holders_in(before);
    into.owner = tag::from_id(record.tag.load(order));
    into.kind = record.kind.load(order);
    std::uint64_t const now = platform::coarse_ns(), born = record.born_ns.load(order);
    into.age_ns = now > born ? now - born : 0;
    detail::handle_stack const* const stacks = stacks_.load(order);
    std::size_t const count = stacks == nullptr ? 0 : record.frame_count.load(order);
    into.stack_count = std::min(count, detail::handle_stack::capacity);
    for (std::size_t index = 0; index < into.stack_count; ++index)
        frames[index] = stacks[entry].frames[index].load(order);
    into.stack = into.stack_count == 0 ? nullptr : frames;
    return detail::generation_in(word.load(std::memory_order_relaxed)) == generation;
}

void handle_table::visit_live(void (*visit)(void* context, const handle_info&), void* context) const noexcept {
    std::uint32_t const end = entries_end_.load(std::memory_order_acquire);
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
    std::uint32_t const end = entries_end_.load(std::memory_order_acquire);
    detail::handle_word const* const words = words_.load(std::memory_order_relaxed);
    for (std::uint32_t entry = 1; entry < end; ++entry) {
        std::uint32_t const generation = detail::generation_in(words[entry].load(std::memory_order_relaxed));
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
        if (++count > most_reported) return;
        report_text text;
        say(text, info);
        text.text(". Remove its handle (or free its buffer) when it is no longer needed.");
        report(report_kind::leak, text.view());
        if (info.stack_count != 0) host::write_stack(info.stack, info.stack_count);
    });
    if (count > most_reported) {
        report_text text;
        text.number(count).text(" handles are live, of ").number(bytes).text(" bytes; the first ");
        text.number(most_reported).text(" were told.");
        report(report_kind::leak, text.view());
    }
    return count;
}

bool handle_table::valid() const noexcept {
    std::uint32_t const end = entries_end_.load(std::memory_order_acquire);
    detail::handle_word const* const words = words_.load(std::memory_order_relaxed);
    detail::handle_record const* const records = records_.load(std::memory_order_relaxed);
    if (detail::generation_in(words[0].load(std::memory_order_relaxed)) != detail::retired_generation) return false;
    std::size_t free_count = 0, listed_count = 0;
    for (std::uint32_t entry = 1; entry < end; ++entry) {
        std::uint64_t const word = words[entry].load(std::memory_order_relaxed);
        std::uint32_t const generation = detail::generation_in(word);
        bool const is_live = generation % 2 == 1;
        if (!is_live && detail::holders_in(word) != 0) return false;
        // Lines of other stacks that nobody has taken lie between those in use.
        bool const is_taken =
            entry / entries_per_line / stack_count < stacks_of_free_[stack_of(entry)].next_line.load();
        free_count += !is_live && generation != detail::retired_generation && is_taken;
    }
    for (std::uint32_t stack = 0; stack < stack_count; ++stack) {
        auto entry = static_cast<std::uint32_t>(stacks_of_free_[stack].top.load(std::memory_order_acquire));
        for (; entry != 0; entry = records[entry].next.load(std::memory_order_relaxed)) {
            bool const is_free = entry < end && detail::generation_in(words[entry].load()) % 2 == 0;
            if (!is_free || stack_of(entry) != stack || ++listed_count > free_count) return false;
        }
    }
    return listed_count == free_count;
}

void detail::report_handles_at_exit() noexcept {
    handle_table const& table = handle_table::process();
    if (option_value(option::handle_report) == 1) {
        table.report_live();
        return;
    }
    handle_usage const usage = table.usage();
    usage_figure const figures[] = {{"live_count", "", usage.live_count, false},
                                    {"live_bytes", "", usage.live_bytes, true},
                                    {"held_count", "", usage.held_count, false}};
    usage_writer const write{usage_form::json, [](void*, std::string_view piece) { host::write_report(piece); },
                             nullptr};
    write_figures(write, "handles", "process", figures);
    write(",\"handles\": [");
    bool is_first = true;
    table.for_each_live([&](const handle_info& info) {
        report_text text;
        text.text(is_first ? "" : ", ").text("{\"kind\": \"").text(info.kind).text("\", \"bytes\": ");
        text.number(info.which.bytes).text(", \"holders\": ").number(info.holders).text(", \"age_ns\": ");
        text.number(info.age_ns).text("}");
        write(text.view());
        is_first = false;
    });
    write("]}\n");
}

}
