// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How the two threads of an exchange pass blocks to each other and wait for each other.

#include <atomic>
#include <cstdint>
#include <thread>

#include "bench/harness/page_array.hpp"

namespace tenure::lab {

constexpr std::size_t exchange_blocks = 1000; ///< per batch and thread; half of them are handed over

/// The body of a loop that waits for another thread.
inline void wait_a_little(unsigned spins) {
    __builtin_ia32_pause();
    if (spins % 4096 == 4095) std::this_thread::yield(); // there may be only one CPU
}

/// A queue with one writer and one reader. It never fills, because neither thread is more than a batch ahead. The
/// writer publishes 32 blocks at a time, as an efficient queue does.
class handover_queue {
public:
    void put(void* block) {
        cells_[written_++ & mask] = block;
        if (written_ % published_together == 0) publish();
    }
    void publish() { published_.store(written_, std::memory_order_release); }

    [[nodiscard]] void* take() {
        if (taken_ == seen_) wait();
        return cells_[taken_++ & mask];
    }

    /// The writer asks both sides to stop after a group that it has not begun. The reader sees it in time, because it
    /// cannot finish that group without blocks that are published later.
    void end_with_group(std::size_t group) {
        if (last_group_.load(std::memory_order_relaxed) == no_last_group) {
            last_group_.store(group, std::memory_order_relaxed);
        }
    }
    [[nodiscard]] std::size_t last_group() const { return last_group_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t no_last_group = SIZE_MAX;
    static constexpr std::size_t capacity = 2048, mask = capacity - 1, published_together = 32;
    static_assert(capacity >= exchange_blocks);

    void wait() {
        for (unsigned spins = 0; (seen_ = published_.load(std::memory_order_acquire)) == taken_; ++spins) {
            wait_a_little(spins);
        }
    }

    page_array<void*> cells_{capacity};
    alignas(128) std::size_t written_ = 0;
    alignas(128) std::atomic<std::size_t> published_{0};
    std::atomic<std::size_t> last_group_{no_last_group};
    alignas(128) std::size_t taken_ = 0;
    std::size_t seen_ = 0;
};

/// A barrier; for two threads by default.
class meeting_point {
public:
    explicit meeting_point(unsigned threads = 2) : threads_(threads) {}

    /// Returns when all threads have called it as often as the caller.
    void meet(unsigned& times) {
        ++times;
        arrived_.fetch_add(1);
        for (unsigned spins = 0; arrived_.load() < threads_ * times; ++spins) wait_a_little(spins);
    }

private:
    unsigned threads_;
    std::atomic<unsigned> arrived_{0};
};

}
