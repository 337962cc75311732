// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/trace/trace_clock.hpp"

#include <algorithm>

namespace tenure::lab {

trace_clock::trace_clock(const trace_format::file_header& file)
    : first_ticks_(file.first_ticks), first_ns_(file.first_ns), last_ticks_(file.last_ticks), last_ns_(file.last_ns),
      ns_per_tick_(rate()) {}

void trace_clock::see(const trace_format::chunk_header& chunk) {
    if (chunk.kind != trace_format::chunk_kind::events || chunk.pair_ticks <= last_ticks_) return;
    last_ticks_ = chunk.pair_ticks;
    last_ns_ = chunk.pair_ns;
    ns_per_tick_ = rate();
}

double trace_clock::rate() const {
    constexpr double least = 1e-6, most = 1e6;
    if (last_ticks_ <= first_ticks_ || last_ns_ <= first_ns_) return 1;
    const double found = static_cast<double>(last_ns_ - first_ns_) / static_cast<double>(last_ticks_ - first_ticks_);
    return found > least && found < most ? found : 1;
}

std::uint64_t trace_clock::time_of(std::uint64_t ticks) const {
    constexpr double most = 4e18;
    if (ticks <= first_ticks_) return 0;
    return static_cast<std::uint64_t>(std::min(most, static_cast<double>(ticks - first_ticks_) * ns_per_tick_));
}

}
