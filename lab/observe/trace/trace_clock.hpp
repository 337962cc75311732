// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The times of a trace's file.

#include <cstdint>

#include "observe/trace/trace_format.hpp"

namespace tenure::lab {

/// Makes nanoseconds since the recording began of ticks. The rate is that of two pairs of both: the one in the file's
/// header, and the latest of the header and the chunks.
class trace_clock {
public:
    explicit trace_clock(const trace_format::file_header& file);

    /// Only chunks of events count.
    void see(const trace_format::chunk_header& chunk);
    [[nodiscard]] std::uint64_t time_of(std::uint64_t ticks) const;
    [[nodiscard]] std::uint64_t last_ticks() const { return last_ticks_; }
    [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }

private:
    [[nodiscard]] double rate() const;

    std::uint64_t first_ticks_, first_ns_, last_ticks_, last_ns_;
    double ns_per_tick_;
};

}
