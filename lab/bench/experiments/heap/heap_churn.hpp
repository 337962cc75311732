// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The work of one thread in the heap experiment: it replaces blocks in random order.

#include <cstdint>
#include <span>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Sizes are uniformly random between the two.
struct block_sizes {
    std::uint16_t smallest, largest;
};
constexpr block_sizes small_in_heap{16, 512}, mixed_in_heap{8, 16'000};

/// One step of a script: the block of a slot is freed, or handed to another thread, and a new one takes its place.
struct replacement {
    std::uint32_t slot;
    std::uint16_t bytes;
    bool handed;
};

/// A list of steps, made beforehand so that timed loops draw no random numbers.
[[nodiscard]] page_array<replacement> make_script(std::size_t steps, std::size_t slots, std::size_t handed_percent,
                                                  block_sizes sizes, random_source& random);

/// The separate costs of frees and of allocations.
struct paired_ns {
    double free, allocate;
};

template<class Allocator>
class churn {
public:
    /// Number of frees, or allocations, timed together: enough for the clock's cost not to matter.
    static constexpr std::size_t batch = 500;

    churn(Allocator& allocator, std::size_t live, std::size_t steps, std::size_t handed_percent, block_sizes sizes,
          std::uint64_t seed)
        : allocator_(allocator), random_(seed), blocks_(live), order_(live),
          script_(make_script(steps, live, handed_percent, sizes, random_)) {
        for (std::size_t i = 0; i < live; ++i) order_[i] = static_cast<std::uint32_t>(i);
    }

    /// Nanoseconds per allocation.
    [[gnu::noinline]] double fill() {
        const stopwatch watch;
        std::size_t i = 0;
        for (held_block& slot : blocks_.all()) take(slot, script_[i++ % script_.size()].bytes);
        return watch.elapsed_ns() / static_cast<double>(blocks_.size());
    }

    /// Runs steps of the script: a free, then an allocation. `hand(block)` is offered the blocks that the script hands
    /// over; a block that it accepts is freed elsewhere.
    template<class Hand>
    void replace(std::span<const replacement> steps, Hand hand) {
        for (const replacement& step : steps) {
            held_block& slot = blocks_[step.slot];
            if (!step.handed || !hand(slot)) release(slot);
            take(slot, step.bytes);
        }
    }

    /// The whole script without hand-overs: nanoseconds per operation; a step has two operations.
    [[gnu::noinline]] double replace_in_turn() {
        const stopwatch watch;
        replace(script_.all(), [](const held_block&) { return false; });
        return watch.elapsed_ns() / (2.0 * static_cast<double>(script_.size()));
    }

    /// Replaces all blocks once, in random order: frees a batch, then allocates as many.
    [[gnu::noinline]] paired_ns replace_in_batches() {
        shuffle(order_.all(), random_);
        paired_ns spent{0, 0};
        for (std::size_t done = 0; done < order_.size(); done += batch) {
            const auto slots = order_.all().subspan(done, std::min(batch, order_.size() - done));
            for (std::uint32_t slot : slots) intact_ &= stamp_holds(blocks_[slot]);
            stopwatch frees;
            for (std::uint32_t slot : slots) allocator_.deallocate(blocks_[slot].place, blocks_[slot].bytes);
            spent.free += frees.elapsed_ns();
            stopwatch allocations;
            std::size_t i = done;
            for (std::uint32_t slot : slots) take(blocks_[slot], script_[i++ % script_.size()].bytes);
            spent.allocate += allocations.elapsed_ns();
        }
        const double count = static_cast<double>(order_.size());
        return {spent.free / count, spent.allocate / count};
    }

    void free_all() {
        for (const held_block& slot : blocks_.all()) release(slot);
    }

    void release(const held_block& block) { intact_ &= free_checked(allocator_, block); }

    [[nodiscard]] std::span<const replacement> script() const { return script_.all(); }
    [[nodiscard]] std::span<const held_block> blocks() const { return blocks_.all(); }
    [[nodiscard]] bool intact() const { return intact_; }

private:
    void take(held_block& slot, std::uint32_t bytes) { slot = make_block(allocator_, bytes, ++stamps_); }

    Allocator& allocator_;
    random_source random_;
    page_array<held_block> blocks_;
    page_array<std::uint32_t> order_;
    page_array<replacement> script_;
    std::uint32_t stamps_ = 0;
    bool intact_ = true;
};

}
