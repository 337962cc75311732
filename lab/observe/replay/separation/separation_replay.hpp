// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Replays a trace on the process heap of Tenure with some call sites in pages of their own, and measures memory. Each
/// replay is a child of this process, so that its heap is new; as many run at the same time as there are processors.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "observe/replay/plan/replay_plan.hpp"
#include "observe/replay/run/touch.hpp"
#include "observe/replay/separation/separation.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

/// Memory of replays, in bytes above what the process had before the first call. Means are over 100 places at equal
/// distances in the trace's events, without marks; over all events where these are fewer.
struct separated_memory {
    double peak = 0;    ///< resident, at the worst of these places and at the peak of live bytes; nothing is purged
    double mean = 0;    ///< resident; nothing is purged
    double trimmed = 0; ///< mean of resident after trim() at each place, in a replay of its own
    double trimmed_peak = 0; ///< resident after trim(), at the worst of these places, in that replay
};

enum class which_memory : std::uint8_t {
    trimmed, ///< what is measured after trim() alone
    all,
};

struct separation_replay_settings {
    touch_policy touch = touch_policy::ends;
    std::chrono::milliseconds timeout{300'000}; ///< of one replay, from its start
};

/// Why the machine has too little memory to learn from a trace whose events are in memory already, in a sentence; empty
/// when it has enough. Counts the plan, the file of operations and the blocks of a walk over the trace.
[[nodiscard]] std::string why_too_large_to_learn(const trace& recorded, std::uint64_t available_bytes);

class separation_replay {
public:
    explicit separation_replay(const trace& recorded, separation_replay_settings settings = {});
    ~separation_replay();
    separation_replay(const separation_replay&) = delete;
    separation_replay& operator=(const separation_replay&) = delete;

    /// Why the trace cannot be replayed, or why a replay has failed, in a sentence; empty when none has.
    [[nodiscard]] const std::string& error() const { return error_; }

    /// Replays with each assignment of classes to stacks (by index in trace::stacks; empty: all are ordinary), `times`
    /// times in turn.
    /// Returns   the medians of each; none after an error or an interrupt.
    [[nodiscard]] std::vector<separated_memory> measure(std::span<const std::vector<std::uint8_t>> classes,
                                                        which_memory which, std::size_t times = 1);

    [[nodiscard]] std::uint64_t replays() const { return replays_; }
    [[nodiscard]] double mean_live() const { return mean_live_; }          ///< bytes, at the same places
    [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; } ///< of live bytes

private:
    struct job {
        const std::vector<std::uint8_t>* classes;
        separated_memory* to;
        bool trims;
    };
    struct child {
        int process = -1, pipe = -1;
        job work{};
        std::chrono::steady_clock::time_point started{};
    };
    struct child_reply {
        double peak, mean;
    };
    /// As it lies in the file.
    struct operation {
        plan_op call;
        std::uint32_t stack; ///< of the trace
        std::uint32_t unused;
    };

    [[nodiscard]] child start(const job& work);
    [[nodiscard]] bool collect(child& from);
    [[nodiscard]] child_reply play(const job& work) const;
    [[nodiscard]] std::size_t most_at_once() const;
    void find_places(const replay_plan& plan);
    void write_operations(const trace& recorded, const replay_plan& plan);
    [[nodiscard]] void* play_one(const operation& each, void* block, std::uint16_t owner) const;

    separation_replay_settings settings_;
    std::string error_;
    int file_ = -1; // with the operations: read in pieces, so that they are not in the process's memory
    std::vector<std::size_t> places_; // operations after which memory is read; ascending
    std::size_t peak_place_ = 0;      // index in places_ of the one that is not at an equal distance
    std::uint64_t replays_ = 0, peak_bytes_ = 0, slot_count_ = 0;
    double mean_live_ = 0;
};

}
