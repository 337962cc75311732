// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/access/access_chunks.hpp"

#include <algorithm>

#include "observe/trace/numbers.hpp"

namespace tenure::lab {

namespace {

/// Reads numbers until the bytes end.
class access_numbers {
public:
    explicit access_numbers(std::string_view bytes) : bytes_(bytes) {}

    [[nodiscard]] bool is_over() const { return bytes_.empty(); }
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }
    [[nodiscard]] std::uint64_t next() { return take_number(bytes_, is_damaged_); }
    [[nodiscard]] std::uint64_t next_signed() { return take_signed(bytes_, is_damaged_); }
    [[nodiscard]] std::string_view bytes(std::uint64_t count) {
        if (count > bytes_.size()) is_damaged_ = true;
        const std::string_view taken = bytes_.substr(0, count);
        bytes_.remove_prefix(taken.size());
        return taken;
    }

private:
    std::string_view bytes_;
    bool is_damaged_ = false;
};

/// Times are far from where they would overflow.
constexpr std::uint64_t latest_ns = std::uint64_t{1} << 62;
constexpr std::uint64_t longest_hit_ns = 1'000'000'000;

[[nodiscard]] std::uint32_t clipped(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}

void append_window(std::string& payload, const access_window& window, const std::vector<block_name>& names) {
    std::string text;
    append_number(text, window.begin_ns);
    append_number(text, window.end_ns - window.begin_ns);
    append_number(text, static_cast<std::uint64_t>(window.choice));
    append_number(text, window.hit_ns);
    append_number(text, window.max_hits);
    append_number(text, window.blocks.size());
    std::uint64_t code = 0;
    for (std::size_t index = 0; index < window.blocks.size(); ++index) {
        const watched_block& block = window.blocks[index];
        append_number(text, names[index].thread);
        append_number(text, names[index].number);
        append_number(text, block.offset);
        append_number(text, block.count);
        append_number(text, block.accesses.size());
        std::uint64_t before_ns = window.begin_ns;
        for (const trace_access& each : block.accesses) {
            append_number(text, each.time_ns - std::min(each.time_ns, before_ns));
            append_number(text, each.thread);
            append_signed(text, each.code - code);
            before_ns = std::max(before_ns, each.time_ns);
            code = each.code;
        }
    }
    append_number(text, window.processor_ns + 1); // zero: not known
    append_number(payload, text.size());
    payload += text;
}

access_chunks::access_chunks(const trace_chunks& file, std::uint64_t max_items, std::string& damage)
    : left_(max_items) {
    std::string buffer, why;
    std::string_view payload;
    for (const trace_chunk& each : file.all) {
        if (each.header.kind != trace_format::chunk_kind::accesses) continue;
        if (payload_of(each, buffer, payload, why) && read(payload)) continue;
        if (damage.empty() && left_ == 0)
            damage = "The file has more accesses than fit into memory: later ones were left out.";
        if (damage.empty()) damage = "The file is damaged: accesses cannot be read.";
        if (left_ == 0) return;
    }
}

bool access_chunks::read(std::string_view payload) {
    access_numbers all(payload);
    while (!all.is_over()) {
        access_numbers from(all.bytes(all.next()));
        named_window made;
        made.window.begin_ns = std::min(from.next(), latest_ns);
        made.window.end_ns = made.window.begin_ns + std::min(from.next(), latest_ns);
        const std::uint64_t choice = from.next();
        made.window.hit_ns = std::min(from.next(), longest_hit_ns);
        made.window.max_hits = clipped(from.next());
        const std::uint64_t count = from.next();
        // A choice of a later version is as good as any.
        made.window.choice = choice > 2 ? window_choice::random : static_cast<window_choice>(choice);
        if (all.is_damaged() || from.is_damaged() || count > max_window_blocks) return false;
        std::uint64_t code = 0;
        for (std::uint64_t index = 0; index < count; ++index) {
            watched_block block;
            const std::uint64_t thread = from.next(), number = from.next();
            made.names.push_back({clipped(thread), number});
            block.offset = clipped(from.next());
            block.count = clipped(from.next());
            const std::uint64_t accesses = from.next();
            std::uint64_t time_ns = made.window.begin_ns;
            for (std::uint64_t access = 0; access < accesses && !from.is_damaged(); ++access) {
                if (left_ == 0) return false;
                --left_;
                time_ns = std::min(time_ns + std::min(from.next(), latest_ns), made.window.end_ns);
                const std::uint32_t by = clipped(from.next());
                code += from.next_signed();
                if (block.accesses.size() < max_block_accesses) block.accesses.push_back({time_ns, code, by});
            }
            block.count = std::max(block.count, clipped(accesses));
            if (from.is_damaged()) return false;
            made.window.blocks.push_back(std::move(block));
        }
        // Files of the first version end there.
        if (!from.is_over()) made.window.processor_ns = from.next() - 1;
        constexpr std::uint64_t items_of_window = 4;
        if (left_ < items_of_window * (1 + count)) left_ = 0;
        if (left_ == 0) return false;
        left_ -= items_of_window * (1 + count);
        for (const block_name& each : made.names) names_.try_emplace(each);
        windows_.push_back(std::move(made));
    }
    return !all.is_damaged();
}

namespace {

/// What is behind a free or a resize is of the malloc, or of the next block at the address.
void cut_to_time(watched_block& of, std::uint64_t begin_ns, std::uint64_t end_ns) {
    const std::size_t cut = std::erase_if(
        of.accesses, [&](const trace_access& each) { return each.time_ns < begin_ns || each.time_ns >= end_ns; });
    if (cut != 0) of.count = static_cast<std::uint32_t>(of.accesses.size());
}

}

/// When each name began and ended: with the next resize of its block, or the free.
void access_chunks::find_times(const trace& of) {
    std::vector<named_block*> all;
    for (auto& [name, each] : names_)
        if (each.block != unknown && each.event < of.events.size()) all.push_back(&each);
    std::sort(all.begin(), all.end(), [](const named_block* a, const named_block* b) { return a->event > b->event; });
    std::vector<std::uint64_t> ends(of.blocks, ~std::uint64_t{0});
    auto next = all.begin();
    for (std::size_t index = of.events.size(); index-- != 0;) {
        const trace_event& event = of.events[index];
        for (; next != all.end() && (*next)->event == index; ++next) {
            (*next)->begin_ns = event.time_ns;
            (*next)->end_ns = ends[(*next)->block];
        }
        if (event.call == trace_call::deallocate || event.call == trace_call::resize) ends[event.block] = event.time_ns;
    }
}

void access_chunks::put(trace& to) {
    if (windows_.empty()) return;
    find_times(to);
    std::vector<access_window>& found = to.windows;
    found.reserve(windows_.size());
    for (named_window& each : windows_) {
        for (std::size_t index = 0; index < each.names.size(); ++index) {
            const named_block& named = names_.at(each.names[index]);
            each.window.blocks[index].block = named.block;
            cut_to_time(each.window.blocks[index], named.begin_ns, named.end_ns);
        }
        const std::size_t unnamed =
            std::erase_if(each.window.blocks, [](const watched_block& one) { return one.block == unknown; });
        // The couples of a window are known by their places.
        if (each.window.blocks.empty() || (unnamed != 0 && each.window.choice != window_choice::random)) continue;
        found.push_back(std::move(each.window));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const access_window& a, const access_window& b) { return a.begin_ns < b.begin_ns; });
    windows_.clear();
    names_.clear();
}

}
