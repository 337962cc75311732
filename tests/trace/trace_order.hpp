// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What every trace promises of the order of its events.

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "observe/trace/trace.hpp"

/// Returns   which promise is broken; empty when all are kept.
[[nodiscard]] inline std::string broken_promise(const tenure::lab::trace& of) {
    using tenure::lab::trace_call;
    enum class state : std::uint8_t { none, live, freed };
    std::vector<state> states(of.blocks, state::none);
    std::vector<std::uint64_t> bytes(of.blocks), times(of.threads);
    std::uint64_t next_block = 0;
    std::uint32_t next_thread = 0;
    for (std::size_t index = 0; index < of.events.size(); ++index) {
        const tenure::lab::trace_event& each = of.events[index];
        if (each.thread > next_thread || each.thread >= of.threads) return fmt::format("thread of event {}", index);
        if (each.thread == next_thread) ++next_thread;
        if (each.time_ns < times[each.thread]) return fmt::format("time of event {}", index);
        times[each.thread] = each.time_ns;
        if (each.stack >= of.stacks.size()) return fmt::format("stack of event {}", index);
        if (each.alignment_log2 > 63) return fmt::format("alignment of event {}", index);
        if (each.call == trace_call::frame) continue;
        if (each.call == trace_call::mark) {
            if (each.block >= of.marks.size()) return fmt::format("mark of event {}", index);
            continue;
        }
        if (each.block >= of.blocks) return fmt::format("block of event {}", index);
        const bool is_new = each.call == trace_call::allocate;
        if (is_new && each.block != next_block++) return fmt::format("number of the block of event {}", index);
        if (states[each.block] != (is_new ? state::none : state::live))
            return fmt::format("event {} of a block that is not in use", index);
        if (each.call == trace_call::deallocate && each.bytes != bytes[each.block])
            return fmt::format("bytes of event {}", index);
        bytes[each.block] = each.bytes;
        states[each.block] = each.call == trace_call::deallocate ? state::freed : state::live;
    }
    for (const tenure::lab::access_window& window : of.windows) {
        if (window.blocks.empty() || window.end_ns < window.begin_ns) return "a window";
        for (const tenure::lab::watched_block& each : window.blocks) {
            if (each.block >= of.blocks) return "block of a window";
            if (each.count < each.accesses.size()) return "accesses of a window";
            std::uint64_t before_ns = window.begin_ns;
            for (const tenure::lab::trace_access& access : each.accesses) {
                if (access.time_ns < before_ns || access.time_ns > window.end_ns) return "time of an access";
                before_ns = access.time_ns;
            }
        }
    }
    return next_block == of.blocks ? "" : "number of blocks";
}
