// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The part of the heap experiment in which one thread allocates and the other frees everything.
///
/// Both work in batches, with the clock read around a batch, so the cost of an allocation or a free includes neither
/// the hand-over nor a wait for the other thread. The overall time per block, including waits, is a separate figure.

#include <array>
#include <span>
#include <thread>

#include "bench/experiments/heap/heap_churn.hpp"
#include "bench/experiments/shared/block_queue.hpp"
#include "bench/experiments/shared/exchange.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

constexpr std::size_t produced_together = 64;

/// State shared by producer and consumer.
struct production_line {
    std::size_t passes, blocks_per_pass;
    block_queue queue{};
    meeting_point meeting{};
    bool sound = true; ///< written by the producer before its last meeting
};

template<class Allocator>
class producer {
public:
    producer(production_line& line, Allocator& allocator, random_source random)
        : line_(line), allocator_(allocator), script_(make_script(script_steps, 1, 0, small_in_heap, random)),
          passes_(line.passes) {}

    /// `live` is called at the end, untimed, with blocks that are all alive. It returns whether they are sound.
    template<class Live>
    void run(const Live& live) {
        pin_thread(0);
        for (double& pass : passes_.all()) {
            line_.meeting.meet(met_);
            pass = produce(line_.blocks_per_pass) / static_cast<double>(line_.blocks_per_pass);
        }
        line_.meeting.meet(met_);
        for (held_block& block : last_.all()) block = make();
        line_.sound = live(last_.all());
        line_.meeting.meet(met_);
        if (line_.sound) send(last_.all());
    }

    [[nodiscard]] double median_ns() const { return median_of(passes_.all()); }

private:
    static constexpr std::size_t script_steps = 4096;

    held_block make() {
        ++made_;
        return make_block(allocator_, script_[made_ % script_steps].bytes, made_);
    }

    /// Nanoseconds of all allocations.
    [[gnu::noinline]] double produce(std::size_t count) {
        std::array<held_block, produced_together> blocks;
        double spent = 0;
        for (std::size_t left = count; left > 0;) {
            const auto some = std::span{blocks}.first(std::min(left, blocks.size()));
            const stopwatch watch;
            for (held_block& block : some) block = make();
            spent += watch.elapsed_ns();
            send(some);
            left -= some.size();
        }
        return spent;
    }

    void send(std::span<const held_block> blocks) {
        for (const held_block& block : blocks) {
            for (unsigned spins = 0; !line_.queue.put(block); ++spins) wait_a_little(spins);
        }
        line_.queue.publish();
    }

    production_line& line_;
    Allocator& allocator_;
    page_array<replacement> script_; ///< for its sizes
    page_array<double> passes_;
    page_array<held_block> last_{block_queue::capacity / 2};
    std::uint32_t made_ = 0;
    unsigned met_ = 0;
};

template<class Allocator>
class consumer {
public:
    consumer(production_line& line, Allocator& allocator)
        : line_(line), allocator_(allocator), passes_(line.passes), through_(line.passes) {}

    void run() {
        pin_thread(1);
        const double per_block = 1.0 / static_cast<double>(line_.blocks_per_pass);
        for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
            line_.meeting.meet(met_);
            const stopwatch watch;
            passes_[pass] = consume(line_.blocks_per_pass) * per_block;
            through_[pass] = watch.elapsed_ns() * per_block;
        }
        line_.meeting.meet(met_);
        line_.meeting.meet(met_);
        if (line_.sound) static_cast<void>(consume(block_queue::capacity / 2));
    }

    [[nodiscard]] double median_ns() const { return median_of(passes_.all()); }
    [[nodiscard]] double through_ns() const {
        return median_of(through_.all());
    } ///< per block, from the meeting to the end
    [[nodiscard]] bool intact() const { return intact_; }

private:
    /// Nanoseconds of all frees.
    [[gnu::noinline]] double consume(std::size_t count) {
        std::array<held_block, produced_together> blocks;
        double spent = 0;
        for (std::size_t left = count; left > 0;) {
            const auto some = std::span{blocks}.first(std::min(left, blocks.size()));
            for (held_block& block : some) {
                for (unsigned spins = 0; !line_.queue.take(block); ++spins) wait_a_little(spins);
            }
            intact_ &= stamps_hold(some); // which brings them to this core, whatever the allocator
            const stopwatch watch;
            for (const held_block& block : some) allocator_.deallocate(block.place, block.bytes);
            spent += watch.elapsed_ns();
            left -= some.size();
        }
        return spent;
    }

    production_line& line_;
    Allocator& allocator_;
    page_array<double> passes_, through_;
    unsigned met_ = 0;
    bool intact_ = true;
};

template<class Allocator>
void run_producer_consumer(const task& asked) {
    constexpr std::string_view variant = "16 to 512 B, producer and consumer";
    Allocator allocator = make_allocator<Allocator>(2 * block_queue::capacity * small_in_heap.largest);
    production_line line{asked.options.size("passes"), asked.options.size("blocks")};
    producer<Allocator> from(line, allocator, random_source(asked.seed));
    consumer<Allocator> to(line, allocator);
    const memory_meter meter;
    memory_peak peak;
    {
        const std::jthread freeing([&] { to.run(); });
        const std::jthread allocating([&] {
            from.run([&](std::span<const held_block> live) {
                peak = read_peak(meter);
                return show_and_check(asked, allocator, live);
            });
        });
    }
    if (!line.sound) return;
    if (!to.intact()) return asked.out.fail(wrong_stamp);
    asked.out.value("alloc", variant, "ns/op", from.median_ns());
    asked.out.value("free", variant, "ns/op", to.median_ns());
    asked.out.value("through both", variant, "ns/block", to.through_ns());
    tell_memory(asked, allocator, meter, peak, variant);
}

}
