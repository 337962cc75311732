// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Acquires and releases holds of one piece of memory.
///
/// A scheme has `hold`, `make(memory)`, `is_live(hold)`, `acquire(hold)`, which returns a `taken` that is false on
/// failure, `release(hold, taken)` and `end(hold)`. For the proof it has `query` and `alive()`, the number of holds
/// made and not ended. `knows_ends` tells whether is_live() is meaningful.

#include <array>
#include <cstddef>
#include <thread>

#include "bench/experiments/handles/handles.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/mallocs/block_owner.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// Pairs of one thread.
/// Returns   how many holds could not be acquired.
template<class Scheme>
[[gnu::noinline]] std::size_t take_holds(Scheme& scheme, const typename Scheme::hold& of, std::size_t pairs) {
    std::size_t refused = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
        typename Scheme::taken taken = scheme.acquire(of);
        refused += !taken;
        scheme.release(of, taken);
    }
    return refused;
}

template<class Scheme>
[[gnu::noinline]] std::size_t count_live(Scheme& scheme, const typename Scheme::hold& of, std::size_t checks) {
    std::size_t live = 0;
    for (std::size_t i = 0; i < checks; ++i) live += scheme.is_live(of);
    return live;
}

template<class Scheme>
void run_handles(const task& asked) {
    const std::size_t operations = asked.options.size("operations");
    const auto each = static_cast<double>(operations);
    alignas(cache_line_bytes) static char memory[64];
    std::thread([] {}).join(); // before the first thread exists, some counts use plain additions
    Scheme scheme;
    typename Scheme::hold held = scheme.make(memory);
    void* const told[1] = {memory};
    asked.out.blocks(told, 0, owner_of(scheme));
    std::size_t refused = take_holds(scheme, held, operations / 10);

    if (asked.part == handles_two_threads) {
        std::size_t others = 0;
        const stopwatch watch;
        std::thread other([&] {
            pin_thread(1);
            others = take_holds(scheme, held, operations);
        });
        pin_thread(0);
        refused += take_holds(scheme, held, operations);
        other.join();
        asked.out.value("hold, two threads at once", "a pair", "ns", watch.elapsed_ns() / each);
        refused += others;
    } else {
        stopwatch watch;
        refused += take_holds(scheme, held, operations);
        asked.out.value("hold", "a pair", "ns", watch.elapsed_ns() / each);
        if constexpr (Scheme::knows_ends) {
            watch.restart();
            const std::size_t live = count_live(scheme, held, operations);
            asked.out.value("check", "is it there", "ns", watch.elapsed_ns() / each);
            if (live != operations) return asked.out.fail("a live object was reported as ended");
        }
        const std::size_t made_count = operations / 4;
        watch.restart();
        for (std::size_t i = 0; i < made_count; ++i) {
            typename Scheme::hold made = scheme.make(memory);
            escape(&made);
            scheme.end(made);
        }
        asked.out.value("made and ended", "a pair", "ns", watch.elapsed_ns() / static_cast<double>(made_count));
    }
    if (refused != 0) return asked.out.fail("a live object could not be acquired");
    if (scheme.alive() != 1) return asked.out.fail("the number of live objects is not 1");
    scheme.end(held);
    if (scheme.alive() != 0) return asked.out.fail("an ended object is still counted");
    if (Scheme::knows_ends && scheme.is_live(held)) asked.out.fail("an ended object was reported as live");
}

}
