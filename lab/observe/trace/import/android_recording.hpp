// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The text of Android's malloc debug (record_allocs), which its memory_replay reads: a line for each call.

#include <cstdint>
#include <string_view>

#include "observe/trace/import/imported_events.hpp"
#include "observe/trace/import/recording_lines.hpp"
#include "observe/trace/import/trace_import.hpp"

namespace tenure::lab {

/// Whether a recording with this first line is of this format.
[[nodiscard]] bool is_android_line(std::string_view line);

class android_recording {
public:
    android_recording(trace& to, const import_limits& limits) : events_(to, limits) {}

    /// Returns   false if it cannot be read.
    [[nodiscard]] bool take(std::string_view line);
    [[nodiscard]] const std::string& why_full() const { return events_.why_full(); }
    void finish() { events_.finish(); }

private:
    /// Reads the two times at the end of a line, if it has them.
    [[nodiscard]] bool take_times(line_fields& fields);
    [[nodiscard]] bool take_calloc(line_fields& fields, std::uint64_t address);
    [[nodiscard]] bool take_memalign(line_fields& fields, std::uint64_t address);
    [[nodiscard]] bool take_realloc(line_fields& fields, std::uint64_t address);

    enum class clock : std::uint8_t { unknown, of_lines, of_recording };

    imported_events events_;
    imported_call call_; ///< of the line
    clock clock_ = clock::unknown;
    std::uint64_t lines_ = 0, last_ns_ = 0;
};

}
