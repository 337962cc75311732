// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/advice/block_lives.hpp"

#include <algorithm>

namespace tenure::lab {

std::vector<block_life> lives_of(const trace& recorded) {
    std::vector<block_life> lives(recorded.blocks);
    for (block_life& each : lives) each.died.event = never;
    trace_moment now;
    for (std::size_t i = 0; i < recorded.events.size(); ++i) {
        const trace_event& event = recorded.events[i];
        now.event = i;
        now.time_ns = event.time_ns;
        now.thread = event.thread;
        now.stack = event.stack;
        if (event.call == trace_call::frame) {
            ++now.frame;
            continue;
        }
        if (event.call == trace_call::mark) {
            ++now.phase;
            continue;
        }
        block_life& life = lives[event.block];
        if (event.call == trace_call::allocate) {
            life.born = now;
            life.first_bytes = life.largest_bytes = life.last_bytes = event.bytes;
            life.alignment_log2 = event.alignment_log2;
            life.is_zeroed = event.family == trace_family::zeroed;
            now.bytes += event.bytes;
            continue;
        }
        life.crossed |= event.thread != life.born.thread;
        if (event.call == trace_call::resize) {
            ++life.resizes;
            life.last_bytes = event.bytes;
            life.largest_bytes = std::max(life.largest_bytes, event.bytes);
            now.bytes += event.bytes;
        } else {
            life.died = now;
        }
    }
    return lives;
}

}
