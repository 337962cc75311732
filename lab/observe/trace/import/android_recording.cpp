// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/import/android_recording.hpp"

#include <algorithm>
#include <bit>

namespace tenure::lab {

namespace {

/// Takes the number of the thread, with a colon behind it.
[[nodiscard]] bool take_thread(std::string_view& line, std::uint64_t& thread) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    line_fields before(line.substr(0, colon));
    if (!before.decimal(thread) || !before.is_over()) return false;
    line.remove_prefix(colon + 1);
    return true;
}

}

bool is_android_line(std::string_view line) {
    std::uint64_t thread = 0;
    if (!take_thread(line, thread)) return false;
    constexpr std::string_view calls[] = {"malloc", "calloc", "realloc", "memalign", "free", "thread_done"};
    return std::find(std::begin(calls), std::end(calls), line_fields(line).word()) != std::end(calls);
}

bool android_recording::take(std::string_view line) {
    ++lines_;
    if (line_fields(line).is_over()) return true;
    call_ = {};
    if (!take_thread(line, call_.thread)) return false;
    line_fields fields(line);
    const std::string_view call = fields.word();
    std::uint64_t address = 0, bytes = 0;
    if (!fields.hex(address)) return false;
    if (call == "thread_done") {
        events_.end_thread(call_.thread);
        return fields.is_over() || (fields.decimal(bytes) && fields.is_over());
    }
    if (call == "calloc") return take_calloc(fields, address);
    if (call == "memalign") return take_memalign(fields, address);
    if (call == "realloc") return take_realloc(fields, address);
    const bool is_free = call == "free";
    if (!is_free && (call != "malloc" || !fields.decimal(bytes))) return false;
    if (!take_times(fields)) return false;
    if (address == 0) return true; // refused, or a free of nothing
    is_free ? events_.deallocate_at(address, call_) : events_.allocate_at(address, call_, bytes);
    return true;
}

bool android_recording::take_times(line_fields& fields) {
    // Without times each line takes the unit of time of a trace's file, so that the order of the lines is kept there.
    constexpr std::uint64_t line_ns = 1024;
    std::uint64_t begin_ns = 0, end_ns = 0;
    const bool has_times = !fields.is_over();
    if (has_times && (!fields.decimal(begin_ns) || !fields.decimal(end_ns) || !fields.is_over())) return false;
    if (begin_ns > imported_events::max_time_ns) return false;
    if (clock_ == clock::unknown) clock_ = has_times ? clock::of_recording : clock::of_lines;
    if (clock_ == clock::of_lines) {
        last_ns_ = lines_ * line_ns;
    } else if (has_times) {
        last_ns_ = begin_ns;
    }
    call_.time_ns = last_ns_;
    return true;
}

bool android_recording::take_calloc(line_fields& fields, std::uint64_t address) {
    std::uint64_t count = 0, item_bytes = 0;
    if (!fields.decimal(count) || !fields.decimal(item_bytes) || !take_times(fields)) return false;
    if (address == 0) return true;
    if (item_bytes != 0 && count > UINT64_MAX / item_bytes) return false;
    call_.family = trace_family::zeroed;
    events_.allocate_at(address, call_, count * item_bytes);
    return true;
}

bool android_recording::take_memalign(line_fields& fields, std::uint64_t address) {
    constexpr std::uint64_t least_alignment = 8, most_alignment = std::uint64_t{1} << 63;
    std::uint64_t alignment = 0, bytes = 0;
    if (!fields.decimal(alignment) || !fields.decimal(bytes) || !take_times(fields)) return false;
    if (address == 0) return true;
    if (alignment > most_alignment) return false;
    // memalign takes any alignment, and rounds it up to a power of two.
    call_.family = trace_family::aligned;
    call_.alignment_log2 = static_cast<std::uint8_t>(std::bit_width(std::max(alignment, least_alignment) - 1));
    events_.allocate_at(address, call_, bytes);
    return true;
}

bool android_recording::take_realloc(line_fields& fields, std::uint64_t address) {
    std::uint64_t old_address = 0, bytes = 0;
    if (!fields.hex(old_address) || !fields.decimal(bytes) || !take_times(fields)) return false;
    if (old_address == 0) {
        if (address != 0) events_.allocate_at(address, call_, bytes);
    } else if (address != 0) {
        events_.resize_at(old_address, address, call_, bytes);
    } else if (bytes == 0) {
        events_.deallocate_at(old_address, call_); // otherwise it was refused, and the block stays
    }
    return true;
}

}
