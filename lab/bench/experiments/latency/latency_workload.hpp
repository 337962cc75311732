// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Calls of an allocator, each timed by itself. For the allocator interface, see `heap_blocks.hpp`.
///
/// The live set rises and falls in waves: some blocks are allocated, each written whole, then as many random ones are
/// freed. With two threads, each hands some of its blocks to the other, which frees them, timed as well. An allocator
/// may have `begin_thread()`, which is not timed.

#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/experiments/latency/latency.hpp"
#include "bench/experiments/latency/latency_percentiles.hpp"
#include "bench/experiments/shared/crowd.hpp"
#include "bench/experiments/shared/exchange.hpp"
#include "bench/experiments/shared/server_sizes.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/tick_clock.hpp"

namespace tenure::lab {

constexpr double latency_scale = 4; ///< 16 to 512 bytes, up to 8 KiB, up to 256 KiB

/// The times of calls, in ticks.
class tick_samples {
public:
    explicit tick_samples(std::size_t most) : ticks_(most) {}
    void add(std::uint64_t spent) {
        if (count_ == ticks_.size()) return;
        const std::uint64_t own = spent > cost_ ? spent - cost_ : 0;
        ticks_[count_++] = static_cast<std::uint32_t>(std::min<std::uint64_t>(own, UINT32_MAX));
    }
    [[nodiscard]] std::span<std::uint32_t> all() const { return ticks_.all().first(count_); }

private:
    page_array<std::uint32_t> ticks_;
    std::size_t count_ = 0;
    std::uint64_t cost_ = tick_cost();
};

/// The calls of one thread.
template<class Allocator>
class timed_calls {
public:
    timed_calls(const task& asked, std::size_t index, crowd& all, Allocator& allocator)
        : member_(all, index), allocator_(allocator), random_(random_source(asked.seed + index)()),
          handed_percent_(all.queues.size() > 1 ? asked.options.size("remote-percent") : 0),
          blocks_(asked.options.size("live")), wave_(std::max<std::size_t>(blocks_.size() / 4, 1)),
          waves_(std::max<std::size_t>(asked.options.size("samples") / all.queues.size() / wave_, 1)),
          allocations_(blocks_.size() + waves_ * wave_), frees_(2 * waves_ * wave_) {}

    /// `look` is called by the first thread, untimed, when the blocks of all threads are alive.
    template<class Look>
    void run(const Look& look) {
        const auto release = [this](const held_block& block) { free_one(block); };
        member_.settle();
        if constexpr (requires { allocator_.begin_thread(); }) allocator_.begin_thread();
        while (count_ < blocks_.size()) allocate_one();
        member_.meet();
        for (std::size_t wave = 0; wave < waves_; ++wave) {
            for (std::size_t i = 0; i < wave_; ++i) {
                const held_block gone = take_random();
                if (random_.below(100) < handed_percent_) {
                    member_.send(gone, release);
                } else {
                    free_one(gone);
                }
            }
            member_.receive(release);
            while (count_ < blocks_.size()) allocate_one();
        }
        member_.end_pass(release);
        if (member_.all_sound(look)) free_all(); // a corrupted heap must not be touched again
    }

    [[nodiscard]] std::span<const held_block> blocks() const { return blocks_.all().first(count_); }
    [[nodiscard]] std::span<const std::uint32_t> allocation_ticks() const { return allocations_.all(); }
    [[nodiscard]] std::span<const std::uint32_t> free_ticks() const { return frees_.all(); }
    [[nodiscard]] bool intact() const { return intact_; }
    [[nodiscard]] int cpu() const { return member_.cpu(); }

private:
    void allocate_one() {
        const std::uint32_t bytes = server_bytes(random_, latency_scale);
        const std::uint64_t begin = ticks_before();
        void* const place = allocator_.allocate(bytes);
        allocations_.add(ticks_after() - begin);
        if (place == nullptr) refused();
        const held_block made{place, bytes, ++stamps_};
        write_whole(place, bytes, static_cast<unsigned char>(1 + stamps_ % 255));
        stamp_block(made);
        blocks_[count_++] = made;
    }

    /// Reads the block first, so that a cache miss happens outside the measurement.
    void free_one(const held_block& block) {
        intact_ &= stamp_holds(block);
        const std::uint64_t begin = ticks_before();
        allocator_.deallocate(block.place, block.bytes);
        frees_.add(ticks_after() - begin);
    }

    held_block take_random() {
        const std::size_t place = random_.below(count_);
        const held_block taken = blocks_[place];
        blocks_[place] = blocks_[--count_];
        return taken;
    }

    void free_all() {
        for (const held_block& block : blocks()) allocator_.deallocate(block.place, block.bytes);
        count_ = 0;
    }

    crowd_member member_;
    Allocator& allocator_;
    random_source random_;
    std::size_t handed_percent_;
    page_array<held_block> blocks_;
    std::size_t wave_, waves_; ///< blocks of a wave, number of waves
    tick_samples allocations_, frees_;
    std::size_t count_ = 0; ///< live blocks
    std::uint32_t stamps_ = 0;
    bool intact_ = true;
};

template<class Allocator>
void run_latency(const task& asked) {
    const bool alone = asked.part == latency_part::one_thread;
    const std::size_t live_bytes = asked.options.size("live") * mean_server_bytes(latency_scale);
    const tick_length tick;
    Allocator allocator = make_allocator<Allocator>(live_bytes);
    crowd all(alone ? 1 : 2);
    std::vector<std::unique_ptr<timed_calls<Allocator>>> workers;
    for (std::size_t i = 0; i < all.queues.size(); ++i) {
        workers.push_back(std::make_unique<timed_calls<Allocator>>(asked, i, all, allocator));
    }
    const memory_meter meter;
    memory_peak peak;
    const auto look = [&] {
        peak = read_peak(meter);
        std::vector<std::span<const held_block>> lists;
        for (const auto& worker : workers) lists.push_back(worker->blocks());
        return show_and_check(asked, allocator, joined<held_block>(lists).all());
    };
    if (alone) {
        workers[0]->run(look); // in a process that never had a second thread
    } else {
        std::vector<std::jthread> threads;
        for (const auto& worker : workers) threads.emplace_back([&look, &worker] { worker->run(look); });
    }
    if (!all.sound) return;
    std::vector<std::span<const std::uint32_t>> allocations, frees;
    for (const auto& worker : workers) {
        if (!worker->intact()) return asked.out.fail(wrong_stamp);
        allocations.push_back(worker->allocation_ticks());
        frees.push_back(worker->free_ticks());
    }
    const std::string_view threads = alone ? "one thread" : "two threads";
    const double ns = tick.ns();
    tell_percentiles(asked, joined<std::uint32_t>(allocations).all(), ns,
                     alone ? "allocate, one thread" : "allocate, two threads");
    tell_percentiles(asked, joined<std::uint32_t>(frees).all(), ns, alone ? "free, one thread" : "free, two threads");
    tell_memory(asked, allocator, meter, peak, threads);
    if (!alone) asked.out.note(where_they_ran({workers[0]->cpu(), workers[1]->cpu()}));
}

}
