// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plays the threads of a plan as threads. They start together and wait for each other only where a block crosses
/// threads: acquire and release on the block's stage, and nothing else.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/player.hpp"

namespace tenure::lab {

struct threads_outcome {
    std::string_view failure; ///< why it was not played to its end, in a sentence; empty: it was
    double spent_ns = 0;      ///< from the common start until the last thread's last operation
};

/// The stage of a block that several threads use lies behind its pointer, in the line that the slot has for itself.
[[nodiscard]] inline std::atomic<std::uint64_t>& stage_behind(void** held, std::uint32_t slot) {
    static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(void*) && line_slots >= 2);
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(held + slot + 1);
}

/// Waits before an operation on a block that several threads use until the block's operation before it is done.
template<class Around>
class handing_over : public Around {
public:
    handing_over(const Around& around, void** held, const std::atomic<bool>& is_over)
        : Around(around), held_(held), is_over_(is_over) {}

    bool wait(const plan_op& op) {
        if (op.stage == 0) return true;
        const std::atomic<std::uint64_t>& stage = stage_behind(held_, op.slot);
        for (unsigned turn = 0; stage.load(std::memory_order_acquire) + 1 != op.stage; ++turn) {
            if (is_over_.load(std::memory_order_relaxed)) return false;
            if (turn > 100) std::this_thread::yield(); // there may be fewer processors than threads
        }
        return true;
    }
    void done(const plan_op& op) {
        if (op.stage != 0) stage_behind(held_, op.slot).store(op.stage, std::memory_order_release);
    }

private:
    void** held_;
    const std::atomic<bool>& is_over_;
};

/// Requires  the plan was made with plan_threads::recorded, and `held` has room for plan.slot_count pointers.
template<class Around>
[[nodiscard]] threads_outcome play_threads(const plan_view& plan, void** held, redirects& to, const Around& around) {
    for (std::uint64_t slot = 0; slot < plan.shared_slot_count; slot += line_slots)
        stage_behind(held, static_cast<std::uint32_t>(slot)).store(0, std::memory_order_relaxed);
    std::atomic<bool> is_over{false}, may_start{false};
    std::atomic<std::size_t> ready{0};
    const page_array<double> ended_ns(plan.threads.size());
    std::vector<std::thread> threads;
    threads.reserve(plan.threads.size());
    threads_outcome found;
    stopwatch watch;
    const auto play_one = [&](std::size_t thread) {
        handing_over<Around> mine(around, held, is_over);
        player_state state;
        ready.fetch_add(1);
        while (!may_start.load(std::memory_order_acquire)) std::this_thread::yield();
        // After one thread found no memory the others stop where they would wait for its blocks.
        if (!is_over.load(std::memory_order_relaxed) && !play(plan.of_thread(thread), held, to, mine, state))
            is_over.store(true);
        ended_ns[thread] = watch.elapsed_ns();
    };
    try {
        for (std::size_t i = 0; i < plan.threads.size(); ++i) threads.emplace_back(play_one, i);
    } catch (const std::system_error&) {
        found.failure = "the system did not start as many threads as the program had";
        is_over.store(true);
    }
    while (ready.load() != threads.size()) std::this_thread::yield();
    watch.restart();
    may_start.store(true, std::memory_order_release);
    for (std::thread& each : threads) each.join();
    found.spent_ns = *std::max_element(ended_ns.all().begin(), ended_ns.all().end());
    if (found.failure.empty() && is_over.load()) found.failure = no_memory;
    return found;
}

}
