// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads that work at the same time and pass blocks around: each to the next one, the last to the first.
///
/// No thread can block the others forever: a thread that waits, for room or for the others, frees the blocks passed to
/// it in the meantime. A crowd may have a single thread, which waits for nobody.

#include <atomic>
#include <cstddef>
#include <vector>

#include "bench/experiments/shared/block_queue.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/machine/cpus.hpp"

namespace tenure::lab {

/// State shared by the threads.
struct crowd {
    explicit crowd(std::size_t threads) : meeting(static_cast<unsigned>(threads)), queues(threads) {}

    meeting_point meeting;
    std::atomic<std::size_t> finished{0}; ///< number of threads that have finished a pass, over all passes
    std::vector<block_queue> queues;      ///< by writer; the reader is the next thread
    bool sound = true;                    ///< written by the first thread while the others wait
};

class crowd_member {
public:
    crowd_member(crowd& all, std::size_t index)
        : all_(all), index_(index), out_(all.queues[index]),
          in_(all.queues[(index + all.queues.size() - 1) % all.queues.size()]) {}

    /// With several threads, each gets a CPU of its own.
    void settle() {
        if (all_.queues.size() > 1) pin_thread(index_);
        cpu_ = current_cpu();
    }
    void meet() { all_.meeting.meet(met_); }

    /// `release(block)` frees blocks that arrive in the meantime.
    template<class Release>
    void send(const held_block& block, const Release& release) {
        for (unsigned spins = 0; !out_.put(block); ++spins) {
            receive(release);
            wait_a_little(spins);
        }
    }

    /// Sends the queued blocks and frees the received ones.
    template<class Release>
    void receive(const Release& release) {
        out_.publish();
        held_block block;
        while (in_.take(block)) release(block);
    }

    /// Returns when all threads have finished the pass and every block received in it has been freed.
    template<class Release>
    void end_pass(const Release& release) {
        out_.publish();
        all_.finished.fetch_add(1, std::memory_order_acq_rel);
        const std::size_t everybody = all_.queues.size() * ++passes_;
        for (unsigned spins = 0; all_.finished.load(std::memory_order_acquire) < everybody; ++spins) {
            receive(release);
            wait_a_little(spins);
        }
        receive(release);
    }

    /// Call it when nothing is timed any more. The first thread calls `look()`, which tells whether the blocks of all
    /// threads are sound, while the others wait. Returns the answer in every thread.
    template<class Look>
    [[nodiscard]] bool all_sound(const Look& look) {
        if (current_cpu() != cpu_) cpu_ = -1;
        meet();
        if (index_ == 0) all_.sound = look();
        meet();
        return all_.sound;
    }

    [[nodiscard]] int cpu() const { return cpu_; } ///< negative when unknown, or when there were several

private:
    crowd& all_;
    std::size_t index_;
    block_queue& out_;
    block_queue& in_;
    unsigned met_ = 0;
    std::size_t passes_ = 0;
    int cpu_ = -1;
};

}
