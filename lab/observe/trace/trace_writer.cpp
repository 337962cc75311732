// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_writer.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/access/access_chunks.hpp"
#include "observe/trace/chunk_events.hpp"
#include "observe/trace/numbers.hpp"
#include "observe/trace/trace_packer.hpp"

namespace tenure::lab {

namespace format = trace_format;
using format::event_kind;
using format::other_event;

namespace {

constexpr std::uint32_t tick_shift = 10;
constexpr std::size_t chunk_bytes = 60'000; ///< of a payload, about

void append_chunk(std::string& file, format::chunk_header header, std::string_view payload) {
    header.magic = format::chunk_magic;
    header.used = static_cast<std::uint32_t>(payload.size());
    const std::size_t length =
        (sizeof header + payload.size() + format::page_bytes - 1) / format::page_bytes * format::page_bytes;
    header.bytes = static_cast<std::uint32_t>(length);
    const std::size_t begin = file.size();
    file.resize(begin + length);
    std::memcpy(file.data() + begin, &header, sizeof header);
    std::memcpy(file.data() + begin + sizeof header, payload.data(), payload.size());
}

void append_text(std::string& file, format::chunk_kind kind, std::string_view text) {
    format::chunk_header header{};
    header.kind = kind;
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), chunk_bytes)), ++header.number) {
        if (text.size() <= chunk_bytes) header.flags = format::is_last_part;
        append_chunk(file, header, text.substr(0, chunk_bytes));
    }
}

/// The chunks of one thread.
class thread_writer {
public:
    thread_writer(std::string& file, std::uint32_t thread) : file_(file) {
        header_.kind = format::chunk_kind::events;
        header_.thread = thread;
    }

    void stack(std::uint32_t id, const std::vector<std::uint64_t>& frames) {
        make_room(0);
        other(other_event::stack);
        number(id);
        number(frames.size());
        std::uint64_t before = 0;
        for (const std::uint64_t each : frames) {
            folded(each - before);
            before = each;
        }
    }
    void begin(std::uint64_t time_ns) {
        make_room(time_ns);
        const std::uint64_t units = (time_ns - std::min(time_ns, ticks_)) >> tick_shift;
        if (units == 0) return;
        other(other_event::time);
        number(units);
        ticks_ += units << tick_shift;
    }
    /// Returns   the number of the block.
    std::uint64_t allocate(const trace_event& each, bool has_stacks) {
        const bool is_aligned = each.family == trace_family::aligned || each.family == trace_family::aligned_new;
        const bool is_new = each.family == trace_family::operator_new || each.family == trace_family::aligned_new;
        const event_kind plain = each.family == trace_family::zeroed ? event_kind::zeroed : event_kind::malloc;
        event(is_aligned ? event_kind::aligned : is_new ? event_kind::operator_new : plain, each.bytes);
        if (is_aligned)
            payload_ += static_cast<char>(each.alignment_log2 | (is_new ? unsigned{format::aligned_is_new} : 0U));
        return named(each, has_stacks);
    }
    std::uint64_t resize(const trace_event& each, const block_name& before, bool has_stacks) {
        event(event_kind::resize, each.bytes);
        if (before.thread == header_.thread) {
            number((next_ - 1 - before.number) * 2 + 1);
        } else {
            number(std::uint64_t{before.thread} * 2);
            other_number(before.number);
        }
        return named(each, has_stacks);
    }
    void free(const trace_event& each, const block_name& block, bool has_stack) {
        if (block.thread == header_.thread) {
            event(event_kind::free_own, next_ - 1 - block.number);
        } else {
            event(event_kind::free_other, block.thread);
            other_number(block.number);
        }
        if (has_stack) number(each.stack);
    }
    void frame() { other(other_event::frame); }
    void mark(std::string_view name) {
        other(other_event::mark);
        number(name.size());
        payload_ += name;
    }
    void end() {
        if (!payload_.empty()) append_chunk(file_, header_, payload_);
        payload_.clear();
    }

private:
    void make_room(std::uint64_t time_ns) {
        if (payload_.size() >= chunk_bytes) {
            end();
            ++header_.sequence;
        }
        if (!payload_.empty()) return;
        header_.number = next_;
        header_.ticks = header_.pair_ticks = header_.pair_ns = ticks_ = std::max(ticks_, time_ns);
        other_ = 0;
    }
    std::uint64_t named(const trace_event& each, bool has_stacks) {
        if (has_stacks) number(each.stack);
        return next_++;
    }
    void event(event_kind kind, std::uint64_t value) {
        constexpr std::uint64_t direct = format::direct_values, byte_values = 256;
        const auto put = [&](std::uint64_t payload, std::uint64_t what, int bytes) {
            payload_ += static_cast<char>(payload << format::kind_bits | static_cast<std::uint64_t>(kind));
            for (int index = 0; index < bytes; ++index) payload_ += static_cast<char>(what >> 8 * index & 255);
        };
        if (value < direct) return put(value, 0, 0);
        if (value < direct + byte_values) return put(direct, value - direct, 1);
        if (value <= UINT16_MAX) return put(direct + 1, value, 2);
        value <= UINT32_MAX ? put(direct + 2, value, 4) : put(direct + 3, value, 8);
    }
    void other(other_event which) { event(event_kind::other, static_cast<std::uint64_t>(which)); }
    void number(std::uint64_t value) { append_number(payload_, value); }
    void folded(std::uint64_t difference) { append_signed(payload_, difference); }
    void other_number(std::uint64_t value) {
        folded(value - other_);
        other_ = value;
    }

    std::string& file_;
    format::chunk_header header_{};
    std::string payload_;
    std::uint64_t next_ = 0, ticks_ = 0, other_ = 0;
};

void append_texts(std::string& file, const trace& of) {
    std::string mappings, builds, arguments;
    std::string last;
    for (const trace_mapping& each : of.mappings) {
        mappings +=
            fmt::format("{:x}-{:x} ---p {:08x} 00:00 0 {}\n", each.begin, each.end, each.file_offset, each.path);
        if (!each.build_id.empty() && each.path != last) builds += fmt::format("{:x} {}\n", each.begin, each.build_id);
        last = each.path;
    }
    for (const std::string& each : of.arguments) arguments.append(each).push_back('\0');
    append_text(file, format::chunk_kind::mappings, mappings);
    append_text(file, format::chunk_kind::builds, builds);
    append_text(file, format::chunk_kind::arguments, arguments);
    append_text(file, format::chunk_kind::damage, of.damage);
    if (of.part.has_value())
        append_text(
            file, format::chunk_kind::part,
            fmt::format("{} {} {} {}\n", of.part->from_ns, of.part->to_ns, of.part->whole_ns, of.part->older_blocks));
}

/// Where a part of a trace lies, which may be a part of another.
[[nodiscard]] trace_part place_of_part(const trace& of, std::uint64_t from_ns, std::uint64_t to_ns) {
    trace_part made{from_ns, to_ns, of.whole_ns, of.older_blocks};
    if (!of.part.has_value()) return made;
    const auto later = [&](std::uint64_t time_ns) {
        return time_ns > UINT64_MAX - of.part->from_ns ? UINT64_MAX : of.part->from_ns + time_ns;
    };
    made.from_ns = later(from_ns);
    made.to_ns = std::min(of.part->to_ns, later(to_ns));
    made.whole_ns = of.part->whole_ns;
    return made;
}

/// The names that the watched blocks of a trace get: a resize gives a block another one, and ends the one before.
class watched_names {
public:
    explicit watched_names(const trace& of) {
        for (const access_window& window : of.windows)
            for (const watched_block& each : window.blocks) names_.try_emplace(each.block);
    }

    void add(std::uint64_t block, std::uint64_t time_ns, const block_name& name) {
        if (names_.empty()) return;
        if (const auto found = names_.find(block); found != names_.end()) found->second.emplace_back(time_ns, name);
    }
    /// The name that a watched block had when it was touched first, or when the window began.
    [[nodiscard]] block_name at(const access_window& window, const watched_block& of) const {
        const auto& all = names_.at(of.block);
        const std::uint64_t time_ns = of.accesses.empty() ? window.begin_ns : of.accesses.front().time_ns;
        block_name found = all.front().second;
        for (const auto& [begin_ns, name] : all)
            if (begin_ns <= time_ns) found = name;
        return found;
    }

private:
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint64_t, block_name>>> names_; // by block
};

/// Chunks of the windows.
[[nodiscard]] std::vector<std::string> access_payloads(const trace& of, const watched_names& names) {
    std::vector<std::string> made;
    std::vector<block_name> of_window;
    for (const access_window& each : of.windows) {
        of_window.clear();
        for (const watched_block& block : each.blocks) of_window.push_back(names.at(each, block));
        if (made.empty() || made.back().size() >= full_access_payload) made.emplace_back();
        append_window(made.back(), each, of_window);
    }
    return made;
}

[[nodiscard]] format::file_header header_of(const trace& of) {
    format::file_header header{};
    std::memcpy(header.magic, format::magic, sizeof header.magic);
    header.version = format::version;
    header.header_bytes = format::page_bytes;
    header.process = of.process;
    header.threads = of.threads;
    header.sample_bytes = of.sample_bytes;
    header.tick_shift = tick_shift;
    // A stack with as many frames as the header says counts as cut short. Where the trace has no limit, none is.
    header.stack_frames = of.stack_frames;
    for (const trace_stack& each : of.stacks) {
        const auto frames = static_cast<std::uint32_t>(each.frames.size());
        if (frames != 0 && of.stack_frames == 0) header.stack_frames = std::max(header.stack_frames, frames + 1);
    }
    header.stacks = static_cast<std::uint32_t>(of.stacks.size() - 1);
    header.free_stacks = of.has_free_stacks && header.stack_frames != 0 ? 1 : 0;
    header.last_ticks = header.last_ns = of.events.empty() ? 0 : of.events.back().time_ns; // a tick is a nanosecond
    return header;
}

}

std::string write_trace(const trace& of) {
    format::file_header header = header_of(of);
    const bool has_stacks = header.stack_frames != 0, has_free_stacks = header.free_stacks != 0;
    std::string file(format::page_bytes, '\0');
    std::vector<thread_writer> threads;
    for (std::uint32_t each = 0; each < of.threads; ++each) threads.emplace_back(file, each);
    for (std::uint32_t each = 1; each < of.stacks.size() && !threads.empty(); ++each)
        threads.front().stack(each, of.stacks[each].frames);
    std::vector<block_name> names(of.blocks);
    watched_names watched(of);
    for (const trace_event& each : of.events) {
        thread_writer& to = threads[each.thread];
        to.begin(each.time_ns);
        switch (each.call) {
        case trace_call::allocate: names[each.block] = {each.thread, to.allocate(each, has_stacks)}; break;
        case trace_call::resize:
            names[each.block] = {each.thread, to.resize(each, names[each.block], has_stacks)};
            break;
        case trace_call::deallocate: to.free(each, names[each.block], has_free_stacks); break;
        case trace_call::frame: to.frame(); break;
        case trace_call::mark: to.mark(of.marks[each.block]); break;
        }
        if (each.call == trace_call::allocate || each.call == trace_call::resize)
            watched.add(each.block, each.time_ns, names[each.block]);
    }
    for (thread_writer& each : threads) each.end();
    append_texts(file, of);
    header.file_bytes = file.size();
    std::memcpy(file.data(), &header, sizeof header);
    return pack_trace(file, access_payloads(of, watched)).bytes;
}

namespace {

/// Keeps the windows that begin in the part, up to its end. `numbers`: of the blocks in the part, by those of before.
void cut_windows(trace& of, std::uint64_t from_ns, std::uint64_t to_ns, const std::vector<std::uint64_t>& numbers) {
    constexpr std::uint64_t unknown = ~std::uint64_t{0};
    for (access_window& each : of.windows) {
        if (each.begin_ns < from_ns || each.begin_ns >= to_ns) each.blocks.clear();
        const std::size_t unnamed =
            std::erase_if(each.blocks, [&](const watched_block& one) { return numbers[one.block] == unknown; });
        if (unnamed != 0 && each.choice != window_choice::random) each.blocks.clear();
        for (watched_block& one : each.blocks) {
            one.block = numbers[one.block];
            const std::size_t behind =
                std::erase_if(one.accesses, [&](const trace_access& access) { return access.time_ns >= to_ns; });
            if (behind != 0) one.count = static_cast<std::uint32_t>(one.accesses.size());
            for (trace_access& access : one.accesses) access.time_ns -= from_ns;
        }
        each.end_ns = std::min(each.end_ns, to_ns) - std::min(each.end_ns, from_ns);
        each.begin_ns -= std::min(each.begin_ns, from_ns);
    }
    std::erase_if(of.windows, [](const access_window& each) { return each.blocks.empty(); });
}

}

trace cut_trace(trace of, std::uint64_t from_ns, std::uint64_t to_ns) {
    constexpr std::uint64_t unknown = ~std::uint64_t{0};
    constexpr std::uint32_t none = ~std::uint32_t{0};
    std::vector<trace_event>& events = of.events;
    // Cut is the order of events: it keeps together what depends on each other, whatever the times say.
    const auto first_from = [&](auto begin, std::uint64_t time_ns) {
        return std::find_if(begin, events.end(), [&](const trace_event& each) { return each.time_ns >= time_ns; });
    };
    const auto begin = first_from(events.begin(), from_ns);
    const auto end = first_from(begin, to_ns);
    for (const trace_event& each : events) of.whole_ns = std::max(of.whole_ns, each.time_ns);
    std::vector<std::uint64_t> bytes(of.blocks); // of then
    std::vector<bool> is_live(of.blocks);
    for (auto each = events.begin(); each != begin; ++each) {
        if (each->call > trace_call::resize) continue;
        bytes[each->block] = each->bytes;
        is_live[each->block] = each->call != trace_call::deallocate;
    }
    // The part is made in place: a trace may be as large as the memory allows.
    const auto older_end = std::remove_if(events.begin(), begin, [&](const trace_event& each) {
        return each.call != trace_call::allocate || !is_live[each.block];
    });
    for (auto each = events.begin(); each != older_end; ++each) each->bytes = bytes[each->block];
    std::stable_sort(events.begin(), older_end,
                     [](const trace_event& a, const trace_event& b) { return a.time_ns < b.time_ns; });
    std::vector<std::uint64_t> numbers(std::exchange(bytes, {}));
    std::fill(numbers.begin(), numbers.end(), unknown);
    std::vector<std::uint32_t> threads(of.threads, none);
    of.threads = 0;
    of.blocks = 0;
    of.unknown_frees = 0;
    of.is_part = true;
    const auto renumber = [&](trace_event& each) {
        if (threads[each.thread] == none) threads[each.thread] = of.threads++;
        each.thread = threads[each.thread];
        each.time_ns -= std::min(each.time_ns, from_ns);
        if (each.call > trace_call::resize) return;
        if (each.call == trace_call::allocate) numbers[each.block] = of.blocks++;
        each.block = numbers[each.block];
    };
    std::for_each(events.begin(), older_end, renumber);
    of.older_blocks = of.blocks;
    std::for_each(begin, end, renumber);
    events.erase(end, events.end());
    events.erase(older_end, begin);
    events.shrink_to_fit();
    cut_windows(of, from_ns, to_ns, numbers);
    of.part = place_of_part(of, from_ns, to_ns);
    return of;
}

}
