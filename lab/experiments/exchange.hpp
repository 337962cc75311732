// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two threads that each allocate batches of blocks, free half of them and hand the other half to the other thread,
/// which frees it. The hand-over alone, with blocks that were there before, is measured beside it.
///
/// An allocator here has `allocate()`, which returns at least four bytes, `deallocate(block)` and
/// `end_batch(thread)`, which is timed as well; both threads call it.
///
/// A batch ends when a thread has freed what the other handed to it in the same batch, so neither is ever more than
/// one batch ahead, and every block dies within two batches.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "harness/cpus.hpp"
#include "harness/experiment.hpp"
#include "harness/measure.hpp"

namespace tenure::lab {

constexpr std::size_t exchange_blocks = 1000;         ///< per batch and thread, half of them handed over
constexpr std::size_t exchange_batches_per_group = 8; ///< timed together, so that what is put off is paid within
constexpr std::size_t exchange_turns = 7;             ///< alone and with the allocator, in turn
constexpr std::size_t exchange_fewest_turns = 3;      ///< of them when they take long together
constexpr double exchange_part_limit_ns = 1e9;
constexpr double exchange_turn_limit_ns = 30e6; ///< a slow allocator's turn ends with the group after this

/// A queue with one writer and one reader. It never fills: neither thread is more than a batch ahead. The writer
/// publishes 32 blocks at a time, as a queue that is meant to be cheap does.
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

    /// The writer asks both sides to stop after a group that it has not begun. It is heard in time: the reader cannot
    /// finish that group without blocks that are published later.
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
            __builtin_ia32_pause();
            if (spins % 4096 == 4095) std::this_thread::yield(); // there may be one CPU only
        }
    }

    page_array<void*> cells_{capacity};
    alignas(128) std::size_t written_ = 0;
    alignas(128) std::atomic<std::size_t> published_{0};
    std::atomic<std::size_t> last_group_{no_last_group};
    alignas(128) std::size_t taken_ = 0;
    std::size_t seen_ = 0;
};

/// Blocks that were there before: what the exchange costs without an allocator. They lie as mallocs put them, at
/// multiples of 16 bytes.
class blocks_from_before {
public:
    explicit blocks_from_before(std::size_t bytes)
        : stride_(align_up(bytes, 16)), blocks_(stride_ * exchange_blocks * 2) {}
    void* allocate() {
        char* const block = blocks_.data() + next_;
        next_ += stride_;
        if (next_ == blocks_.size()) next_ = 0; // after two batches: the last one may still be in use
        return block;
    }
    void deallocate(void*) {}
    void end_batch(std::size_t) {}

private:
    std::size_t stride_;
    page_array<char> blocks_;
    std::size_t next_ = 0;
};

/// One of the two threads.
template<class Allocator>
class exchange_side {
public:
    exchange_side(std::size_t index, handover_queue& out, handover_queue& in, std::size_t groups, Allocator& allocator)
        : index_(index), out_(out), in_(in), allocator_(allocator), group_ns_(groups) {}

    /// `live` is called in a last batch, untimed, when all of its blocks are alive.
    template<class Live>
    void run(std::atomic<int>& waiting, const Live& live) {
        pin_thread(index_);
        waiting.fetch_sub(1);
        while (waiting.load() > 0) __builtin_ia32_pause();
        stopwatch const turn;
        run_group(); // warms up
        if (index_ == 0 && turn.elapsed_ns() > exchange_turn_limit_ns) out_.end_with_group(0);
        for (; done_ < group_ns_.size() && done_ <= out_.last_group() && done_ <= in_.last_group(); ++done_) {
            stopwatch const watch;
            run_group();
            group_ns_[done_] = watch.elapsed_ns() / static_cast<double>(exchange_batches_per_group * exchange_blocks);
            if (index_ == 0 && turn.elapsed_ns() > exchange_turn_limit_ns) out_.end_with_group(done_ + 1);
        }
        allocate_batch();
        live(blocks_.all());
        free_batch();
    }

    [[nodiscard]] double median_ns() const { return median_of(group_ns_.all().first(done_)); }
    [[nodiscard]] bool intact() const { return intact_; }

private:
    void run_group() {
        for (std::size_t i = 0; i < exchange_batches_per_group; ++i) {
            allocate_batch();
            free_batch();
        }
    }

    [[gnu::noinline]] void allocate_batch() {
        for (std::size_t i = 0; i < exchange_blocks; ++i) {
            void* const block = allocator_.allocate();
            if (block == nullptr) {
                std::fputs("an allocation was refused\n", stderr);
                std::abort();
            }
            std::uint32_t const value = next_value_ + static_cast<std::uint32_t>(i);
            std::memcpy(block, &value, sizeof value);
            escape(block);
            blocks_[i] = block;
        }
    }

    [[gnu::noinline]] void free_batch() {
        bool intact = true;
        for (std::size_t i = 0; i < exchange_blocks; i += 2) {
            intact &= release(blocks_[i], next_value_ + static_cast<std::uint32_t>(i));
            out_.put(blocks_[i + 1]);
        }
        out_.publish();
        for (std::size_t i = 1; i < exchange_blocks; i += 2) {
            intact &= release(in_.take(), next_value_ + static_cast<std::uint32_t>(i));
        }
        allocator_.end_batch(index_);
        next_value_ += exchange_blocks; // both sides count alike, so each knows what the other wrote
        if (next_value_ < exchange_blocks) next_value_ = 1;
        intact_ &= intact;
    }

    bool release(void* block, std::uint32_t expected) {
        std::uint32_t value = 0;
        std::memcpy(&value, block, sizeof value);
        escape(block);
        allocator_.deallocate(block);
        return value == expected;
    }

    std::size_t index_;
    handover_queue& out_;
    handover_queue& in_;
    Allocator& allocator_;
    page_array<double> group_ns_;
    std::size_t done_ = 0; ///< groups
    page_array<void*> blocks_{exchange_blocks};
    std::uint32_t next_value_ = 1;
    bool intact_ = true;
};

struct exchange_result {
    double block_ns; ///< per block of one thread: an allocation, a free, half a hand-over
    bool intact;
};

template<class Allocator, class Live>
exchange_result run_exchange(std::size_t groups, Allocator& first, Allocator& second, const Live& live) {
    handover_queue there, back;
    exchange_side<Allocator> left(0, there, back, groups, first), right(1, back, there, groups, second);
    std::atomic<int> waiting{2};
    {
        std::jthread const other([&] { right.run(waiting, [](std::span<void*>) {}); });
        std::jthread const one([&] { left.run(waiting, live); });
    }
    return {left.median_ns(), left.intact() && right.intact()};
}

/// The whole part: the hand-over alone and with the allocator, in turn, in one process. Whether two virtual CPUs are
/// two threads of one core or two cores is the host's choice, which it changes while we run, and a hand-over between
/// cores takes three times as long: so the turns are short, and differences are taken within a turn. The two arguments
/// may be one object, when threads may share it.
template<class Allocator>
void measure_exchange(const task& asked, std::string_view variant, std::size_t bytes, Allocator& first,
                      Allocator& second) {
    std::size_t const groups = asked.options.size("exchange-groups");
    std::array<double, exchange_turns> alone{}, with{}, difference{};
    std::size_t turns = 0;
    stopwatch const whole_part;
    for (; turns < exchange_turns; ++turns) {
        if (turns >= exchange_fewest_turns && whole_part.elapsed_ns() > exchange_part_limit_ns) break;
        blocks_from_before ours(bytes), theirs(bytes);
        exchange_result const bare = run_exchange(groups, ours, theirs, [](std::span<void*>) {});
        exchange_result const whole =
            run_exchange(groups, first, second, [&](std::span<void*> live) { asked.out.blocks(live, bytes); });
        if (!bare.intact || !whole.intact) return asked.out.fail("a block that was handed over did not hold its stamp");
        alone[turns] = bare.block_ns;
        with[turns] = whole.block_ns;
        difference[turns] = std::max(0.0, whole.block_ns - bare.block_ns);
    }
    asked.out.value("alloc+free, less the hand-over", variant, "ns/block",
                    median_of(std::span{difference}.first(turns)));
    asked.out.value("with the hand-over", variant, "ns/block", median_of(std::span{with}.first(turns)));
    asked.out.value("hand-over alone", variant, "ns/block", median_of(std::span{alone}.first(turns)), better::neither);
}

}
