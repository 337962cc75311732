// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Threads that replace their blocks at the same time: first each its own, then with a share that the next thread
/// frees.
///
/// A pass begins when all threads have met and ends when every block handed over in it has been freed.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/experiments/heap/heap_churn.hpp"
#include "bench/experiments/shared/crowd.hpp"
#include "bench/experiments/shared/exchange.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

template<class Allocator>
class churning_thread {
public:
    churning_thread(const task& asked, std::size_t index, crowd& all, Allocator& allocator, std::size_t live,
                    std::size_t steps, block_sizes sizes)
        : member_(all, index), work_(allocator, live, steps, asked.options.size("remote-percent"), sizes,
                                     random_source(asked.seed + index)()),
          alone_(asked.options.size("passes")), handing_(asked.options.size("passes")) {}

    /// `look` is called by the first thread, untimed, when the blocks of all threads are alive.
    template<class Look>
    void run(const Look& look) {
        member_.settle();
        work_.fill();
        for (double& pass : alone_.all()) pass = run_pass([](const held_block&) { return false; });
        for (double& pass : handing_.all()) {
            pass = run_pass([this](const held_block& block) {
                member_.send(block, [this](const held_block& come) { work_.release(come); });
                return true;
            });
        }
        if (member_.all_sound(look)) work_.free_all(); // a corrupted heap must not be touched again
    }

    [[nodiscard]] double alone_ns() const { return median_of(alone_.all()); }
    [[nodiscard]] double handing_ns() const { return median_of(handing_.all()); }
    [[nodiscard]] std::span<const held_block> blocks() const { return work_.blocks(); }
    [[nodiscard]] bool intact() const { return work_.intact(); }
    [[nodiscard]] int cpu() const { return member_.cpu(); }

private:
    /// Nanoseconds per operation of one thread.
    template<class Hand>
    [[gnu::noinline]] double run_pass(const Hand& hand) {
        constexpr std::size_t steps_between_looks = 64;
        const auto release = [this](const held_block& come) { work_.release(come); };
        std::span<const replacement> left = work_.script();
        const double operations = 2.0 * static_cast<double>(left.size());
        member_.meet();
        const stopwatch watch;
        while (!left.empty()) {
            const std::size_t some = std::min(steps_between_looks, left.size());
            work_.replace(left.first(some), hand);
            left = left.subspan(some);
            member_.receive(release);
        }
        member_.end_pass(release);
        return watch.elapsed_ns() / operations;
    }

    crowd_member member_;
    churn<Allocator> work_;
    page_array<double> alone_, handing_;
};

/// `live` and `steps` are the names of options.
template<class Allocator>
void run_threads(const task& asked, block_sizes sizes, std::string_view live, std::string_view steps) {
    const std::size_t count = asked.options.size("threads");
    Allocator allocator = make_allocator<Allocator>(asked.options.size(live) * sizes.largest);
    crowd all(count);
    std::vector<std::unique_ptr<churning_thread<Allocator>>> workers;
    for (std::size_t i = 0; i < count; ++i) {
        workers.push_back(std::make_unique<churning_thread<Allocator>>(
            asked, i, all, allocator, asked.options.size(live), asked.options.size(steps), sizes));
    }
    const memory_meter meter;
    memory_peak peak;
    const auto look = [&] {
        peak = read_peak(meter);
        std::vector<std::span<const held_block>> lists;
        for (const auto& worker : workers) lists.push_back(worker->blocks());
        return show_and_check(asked, allocator, joined<held_block>(lists).all());
    };
    {
        std::vector<std::jthread> threads;
        for (const auto& worker : workers) threads.emplace_back([&look, &worker] { worker->run(look); });
    }
    if (!all.sound) return;
    for (const auto& worker : workers) {
        if (!worker->intact()) return asked.out.fail(wrong_stamp);
    }
    const std::string variant = fmt::format("{} to {} B, {} threads", sizes.smallest, sizes.largest, count);
    asked.out.value("in turn, own blocks", variant, "ns/op", workers[0]->alone_ns());
    asked.out.value(fmt::format("in turn, {} % freed by another", asked.options["remote-percent"]), variant, "ns/op",
                    workers[0]->handing_ns());
    tell_memory(asked, allocator, meter, peak, variant);
    if (count == 2) asked.out.note(where_they_ran({workers[0]->cpu(), workers[1]->cpu()}));
}

}
