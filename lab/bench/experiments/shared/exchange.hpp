// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two threads that each allocate batches of blocks, free half of them and hand the other half to the other thread,
/// which frees them. The hand-over alone, with existing blocks, is measured beside it.
///
/// An allocator here has `allocate()`, which returns at least four bytes, `deallocate(block)` and `end_batch(thread)`,
/// which is timed as well and called by both threads. It may support the proof's questions.
///
/// A batch ends when a thread has freed the blocks that the other handed over in the same batch. So neither thread is
/// ever more than one batch ahead, and every block is freed within two batches.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/block_check.hpp"
#include "bench/harness/experiment.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Shown and not ranked: the difference may be negative, and work hidden by a wait is not in it.
constexpr std::string_view exchange_difference = "alloc+free, less the hand-over";

constexpr std::size_t exchange_batches_per_group = 8; ///< timed together, so that deferred work is included
constexpr std::size_t exchange_turns = 7;             ///< alone and with the allocator, alternately
constexpr std::size_t exchange_fewest_turns = 3;      ///< used when the turns take long
constexpr double exchange_part_limit_ns = 1e9;
constexpr double exchange_turn_limit_ns = 30e6; ///< a slow allocator's turn ends with the first group after this

/// The required size and alignment of exchanged blocks.
struct exchanged_shape {
    std::size_t bytes, alignment;
};

/// State shared by the two sides of an exchange.
struct exchange_plan {
    std::size_t groups;
    exchanged_shape shape;
    meeting_point meeting{};
};

/// Existing blocks, for measuring the exchange without an allocator. They are at multiples of 16 bytes, as mallocs
/// place them.
class blocks_from_before {
public:
    explicit blocks_from_before(std::size_t bytes)
        : stride_(align_up(bytes, 16)), blocks_(stride_ * exchange_blocks * 2) {}
    void* allocate() {
        char* const block = blocks_.data() + next_;
        next_ += stride_;
        if (next_ == blocks_.size()) next_ = 0; // after two batches, because the last one may still be in use
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
    exchange_side(std::size_t index, handover_queue& out, handover_queue& in, exchange_plan& plan, Allocator& allocator)
        : index_(index), out_(out), in_(in), plan_(plan), allocator_(allocator), group_ns_(plan.groups) {}

    /// `live` is called in a last batch, untimed, when all of its blocks are alive; then they are checked together with
    /// those of the other side.
    template<class Live>
    void run(const Live& live) {
        pin_thread(index_);
        plan_.meeting.meet(met_);
        first_cpu_ = current_cpu();
        const stopwatch turn;
        run_group(); // warm-up
        if (index_ == 0 && turn.elapsed_ns() > exchange_turn_limit_ns) out_.end_with_group(0);
        for (; done_ < group_ns_.size() && done_ <= out_.last_group() && done_ <= in_.last_group(); ++done_) {
            const stopwatch watch;
            run_group();
            group_ns_[done_] = watch.elapsed_ns() / static_cast<double>(exchange_batches_per_group * exchange_blocks);
            if (index_ == 0 && turn.elapsed_ns() > exchange_turn_limit_ns) out_.end_with_group(done_ + 1);
        }
        last_cpu_ = current_cpu();
        allocate_batch();
        live(blocks_.all());
        check_batch();
        free_batch();
    }

    [[nodiscard]] double median_ns() const { return median_of(group_ns_.all().first(done_)); }
    /// What is wrong with the allocator, as a sentence; empty when nothing is.
    [[nodiscard]] std::string_view fault() const {
        return intact_ ? fault_ : "a block that was handed over did not hold its stamp";
    }
    /// The CPU that it ran on; negative when unknown, or when it ran on several.
    [[nodiscard]] int cpu() const { return first_cpu_ == last_cpu_ ? first_cpu_ : -1; }

private:
    void run_group() {
        for (std::size_t i = 0; i < exchange_batches_per_group; ++i) {
            allocate_batch();
            free_batch();
        }
    }

    /// Both sides fill their blocks before either compares, to detect blocks of one side that overlap those of the
    /// other.
    void check_batch() {
        const std::uint64_t first = index_ * exchange_blocks;
        fill_blocks(blocks_.all(), plan_.shape.bytes, first);
        plan_.meeting.meet(met_);
        if (!blocks_hold(blocks_.all(), plan_.shape.bytes, first)) fault_ = wrong_contents;
        const std::string_view misplaced = wrong_places(blocks_.all(), plan_.shape.bytes, plan_.shape.alignment);
        if (!misplaced.empty()) fault_ = misplaced;
        plan_.meeting.meet(met_);
        for (std::size_t i = 0; i < exchange_blocks; ++i) { // in a different order than before, because it was sorted
            const std::uint32_t value = next_value_ + static_cast<std::uint32_t>(i);
            std::memcpy(blocks_[i], &value, sizeof value);
        }
    }

    [[gnu::noinline]] void allocate_batch() {
        for (std::size_t i = 0; i < exchange_blocks; ++i) {
            void* const block = allocator_.allocate();
            if (block == nullptr) {
                std::fputs("an allocation failed\n", stderr);
                std::abort();
            }
            const std::uint32_t value = next_value_ + static_cast<std::uint32_t>(i);
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
    exchange_plan& plan_;
    Allocator& allocator_;
    page_array<double> group_ns_;
    std::size_t done_ = 0; ///< number of groups
    page_array<void*> blocks_{exchange_blocks};
    std::uint32_t next_value_ = 1;
    bool intact_ = true;
    std::string_view fault_{};
    unsigned met_ = 0;
    int first_cpu_ = -1, last_cpu_ = -1;
};

struct exchange_result {
    double block_ns;        ///< per block of one thread: an allocation, a free, half a hand-over
    std::string_view fault; ///< a sentence; empty when every block was correct
    std::array<int, 2> cpus;
};

template<class Allocator, class Live>
exchange_result run_exchange(std::size_t groups, exchanged_shape shape, Allocator& first, Allocator& second,
                             const Live& live) {
    handover_queue there, back;
    exchange_plan plan{groups, shape};
    exchange_side<Allocator> left(0, there, back, plan, first), right(1, back, there, plan, second);
    {
        const std::jthread other([&] { right.run([](std::span<void*>) {}); });
        const std::jthread one([&] { left.run(live); });
    }
    return {left.median_ns(), left.fault().empty() ? right.fault() : left.fault(), {left.cpu(), right.cpu()}};
}

/// The median of the differences within each turn, not clamped: it may be negative.
[[nodiscard]] double median_difference(std::span<const double> with, std::span<const double> alone);

/// "the two threads ran on CPUs 1 and 0, which the kernel calls two cores"
[[nodiscard]] std::string where_they_ran(std::array<int, 2> cpus);

/// The whole part: the hand-over alone and with the allocator, alternately, in one process. Whether two virtual CPUs
/// are two threads of one core or two cores is the host's choice, which changes during a run, and a hand-over between
/// cores takes three times as long. So turns are short, and differences are taken within a turn. A difference may be
/// negative, when the allocator's work hides a wait for the other thread, and is reported unchanged. The two allocators
/// may be one object when threads may share it.
template<class Allocator>
void measure_exchange(const task& asked, std::string_view variant, exchanged_shape shape, Allocator& first,
                      Allocator& second) {
    const std::size_t groups = asked.options.size("exchange-groups");
    std::array<double, exchange_turns> alone{}, with{};
    std::size_t turns = 0;
    std::array<int, 2> cpus{-1, -1};
    const block_owner owner = owner_of(first);
    const stopwatch whole_part;
    for (; turns < exchange_turns; ++turns) {
        const bool has_a_middle = turns % 2 == 1 && turns >= exchange_fewest_turns;
        if (has_a_middle && whole_part.elapsed_ns() > exchange_part_limit_ns) break;
        blocks_from_before ours(shape.bytes), theirs(shape.bytes);
        const exchange_result bare =
            run_exchange(groups, {shape.bytes, default_alignment}, ours, theirs, [](std::span<void*>) {});
        const exchange_result whole = run_exchange(
            groups, shape, first, second, [&](std::span<void*> live) { asked.out.blocks(live, shape.bytes, owner); });
        if (!bare.fault.empty()) return asked.out.fail(bare.fault);
        if (!whole.fault.empty()) return asked.out.fail(whole.fault);
        alone[turns] = bare.block_ns;
        with[turns] = whole.block_ns;
        cpus = turns == 0 || cpus == whole.cpus ? whole.cpus : std::array{-1, -1};
    }
    asked.out.value(exchange_difference, variant, "ns/block",
                    median_difference(std::span{with}.first(turns), std::span{alone}.first(turns)));
    asked.out.value("with the hand-over", variant, "ns/block", median_of(std::span{with}.first(turns)));
    asked.out.value("hand-over alone", variant, "ns/block", median_of(std::span{alone}.first(turns)), better::neither);
    asked.out.note(where_they_ran(cpus));
}

}
