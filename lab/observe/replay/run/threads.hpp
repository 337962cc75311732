// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Plays the threads of a plan as threads. They start together and wait for each other only where a block crosses
/// threads: acquire and release on the block's stage, and nothing else.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/player.hpp"

namespace tenure::lab {

struct threads_outcome {
    bool is_whole = true; ///< false: the allocator had no memory
    double spent_ns = 0;  ///< from the common start to the end of the last thread
};

/// Waits before an operation on a block that several threads use until the block's operation before it is done.
template<class Around>
class handing_over : public Around {
public:
    handing_over(const Around& around, std::atomic<std::uint16_t>* stages, const std::atomic<bool>& is_over)
        : Around(around), stages_(stages), is_over_(is_over) {}

    void wait(const plan_op& op) {
        if (op.stage == 0) return;
        const std::atomic<std::uint16_t>& stage = stages_[op.slot];
        for (unsigned turn = 0; !follows(op.stage, stage.load(std::memory_order_acquire)); ++turn) {
            if (is_over_.load(std::memory_order_relaxed)) return;
            if (turn > 100) std::this_thread::yield(); // there may be fewer processors than threads
        }
    }
    void done(const plan_op& op) {
        if (op.stage != 0) stages_[op.slot].store(op.stage, std::memory_order_release);
    }

private:
    /// Stages count from 1 to 65535 and begin again; 0 is before the first operation.
    static bool follows(std::uint16_t stage, std::uint16_t found) {
        return found + 1 == stage || (stage == 1 && found == 65535);
    }

    std::atomic<std::uint16_t>* stages_;
    const std::atomic<bool>& is_over_;
};

/// Requires  the plan was made with plan_threads::recorded, and `held` has room for plan.slot_count pointers.
template<class Around>
[[nodiscard]] threads_outcome play_threads(const plan_view& plan, void** held, redirects& to, const Around& around) {
    const page_array<std::atomic<std::uint16_t>> stages(plan.shared_slot_count + 1);
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> ready{0};
    std::atomic<bool> may_start{false};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < plan.threads.size(); ++i) {
        threads.emplace_back([&, i] {
            handing_over<Around> mine(around, stages.data(), is_over);
            ready.fetch_add(1);
            while (!may_start.load(std::memory_order_acquire)) std::this_thread::yield();
            player_state state;
            // After one thread found no memory the others no longer wait for its blocks; they find null pointers.
            if (!play(plan.of_thread(i), held, to, mine, state)) is_over.store(true);
        });
    }
    while (ready.load() != threads.size()) std::this_thread::yield();
    threads_outcome found;
    const stopwatch watch;
    may_start.store(true, std::memory_order_release);
    for (std::thread& each : threads) each.join();
    found.spent_ns = watch.elapsed_ns();
    found.is_whole = !is_over.load();
    return found;
}

}
