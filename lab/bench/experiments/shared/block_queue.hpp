// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks on their way from the thread that allocated them to the one that frees them.
///
/// Unlike in `handover.hpp`, where both sides keep pace, this queue may be full or empty: neither side waits for the
/// other unless it is far ahead.

#include <atomic>
#include <cstddef>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/harness/page_array.hpp"

namespace tenure::lab {

/// A queue with one writer and one reader.
class block_queue {
public:
    static constexpr std::size_t capacity = 4096;

    /// For the writer. Returns false when the queue is full; everything put before is then published.
    [[nodiscard]] bool put(const held_block& block) {
        if (written_ - freed_ == capacity) {
            freed_ = taken_by_reader_.load(std::memory_order_acquire);
            if (written_ - freed_ == capacity) {
                publish();
                return false;
            }
        }
        cells_[written_++ % capacity] = block;
        return true;
    }
    void publish() { published_.store(written_, std::memory_order_release); }

    /// For the reader. Returns false when nothing more has been published.
    [[nodiscard]] bool take(held_block& block) {
        if (taken_ == seen_) {
            taken_by_reader_.store(taken_, std::memory_order_release);
            seen_ = published_.load(std::memory_order_acquire);
            if (taken_ == seen_) return false;
        }
        block = cells_[taken_++ % capacity];
        return true;
    }

private:
    page_array<held_block> cells_{capacity};
    alignas(128) std::size_t written_ = 0;
    std::size_t freed_ = 0;
    alignas(128) std::atomic<std::size_t> published_{0};
    alignas(128) std::atomic<std::size_t> taken_by_reader_{0};
    alignas(128) std::size_t taken_ = 0;
    std::size_t seen_ = 0;
};

}
