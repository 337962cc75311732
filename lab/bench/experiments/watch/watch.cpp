// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Question: what does `tenure watch` cost the program that it watches?
///
/// Unfair would be: stacks of one depth only, because deeper stacks cost more; a heap that takes no time; calls from
/// one place only, which the cache of seen stacks always contains. It does not show: the first call from each new
/// stack, which is unwound (some microseconds), and the time of the report afterwards.

#include "bench/experiments/watch/watch.hpp"

#include <pthread.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <tenure/base/region.hpp>

#include "bench/experiments/shared/type_name.hpp"
#include "bench/experiments/watch/become_watched.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

constexpr std::array<option_spec, 2> options{{
    {"calls", 300'000, 3'000'000, 1000, 1 << 30, "timed calls of each kind, three times; the median counts"},
    {"depth", 12, 12, 1, 40, "functions of the program on the stack below the calls"},
}};

constexpr std::array<part, 2> parts{{{"in a region", 1}, {"outside", 1}}};
constexpr std::size_t in_a_region = 0;

constexpr std::array<std::string_view, 3> unfair{
    "Each row is a process of its own, which restarts itself with the hook preloaded; the row without is the same "
    "process, not watched.",
    "All calls come from one stack of `--depth` functions, on a thread that the process has started. A call from a "
    "new stack costs microseconds once.",
    "\"nothing called\" is a loop of 1000 dependent multiplications, in ns for the loop.",
};

constexpr std::string_view region_name = "calls";
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // NOLINT: C's

using body = double (*)(std::size_t calls);

double lock_and_unlock(std::size_t calls) {
    const stopwatch watch;
    for (std::size_t index = 0; index < calls; ++index) {
        ::pthread_mutex_lock(&lock);
        ::pthread_mutex_unlock(&lock);
    }
    return watch.elapsed_ns();
}

double allocate_and_free(std::size_t calls) {
    const stopwatch watch;
    for (std::size_t index = 0; index < calls; ++index) {
        void* const block = std::malloc(64);
        escape(block);
        std::free(block);
    }
    return watch.elapsed_ns();
}

double print(std::size_t calls) {
    std::array<char, 32> text{};
    const stopwatch watch;
    for (std::size_t index = 0; index < calls; ++index) {
        std::snprintf(text.data(), text.size(), "%zu", index);
        escape(text.data());
    }
    return watch.elapsed_ns();
}

double call_nothing(std::size_t calls) {
    std::uint64_t value = calls;
    const stopwatch watch;
    for (std::size_t index = 0; index < calls; ++index) {
        for (unsigned step = 0; step < 10; ++step) value = value * 6364136223846793005U + step;
        escape(&value);
    }
    return watch.elapsed_ns() * 100;
}

struct deep_result {
    body run;
    std::size_t calls;
    double ns = 0;
};

// Forces frame pointers in every frame, for the row that uses them, and keeps the recursion from becoming a loop.
[[gnu::noinline, gnu::optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")]] void descend(unsigned depth,
                                                                                                    deep_result& to) {
    if (depth == 0)
        to.ns = to.run(to.calls);
    else
        descend(depth - 1, to);
    escape(&to);
}

double measured(body run, const task& asked) {
    std::array<double, 3> times{};
    for (double& each : times) {
        deep_result found{run, asked.options.size("calls")};
        std::thread([&] {
            const auto depth = static_cast<unsigned>(asked.options.size("depth"));
            if (asked.part == in_a_region) {
                const region_scope region(region_name);
                descend(depth, found);
            } else {
                descend(depth, found);
            }
        }).join();
        each = found.ns / static_cast<double>(found.calls);
    }
    return median_of(times);
}

struct malloc_owner {
    static constexpr std::string_view query = "malloc";
    void* given;
    [[nodiscard]] bool owns(const void* block) const { return block == given; }
};

void run_calls(const task& asked) {
    const std::string variant = asked.part == in_a_region ? "in a region" : "outside";
    asked.out.value("mutex pair", variant, "ns", measured(lock_and_unlock, asked));
    asked.out.value("malloc and free", variant, "ns", measured(allocate_and_free, asked));
    asked.out.value("snprintf", variant, "ns", measured(print, asked));
    asked.out.value("nothing called", variant, "ns", measured(call_nothing, asked));
    void* const block = std::malloc(64);
    asked.out.blocks({&block, 1}, 64, owner_of(malloc_owner{block}));
    std::free(block);
}

constexpr std::array<std::string_view, 3> modes{"none", "frames", "tables"};

template<std::size_t Mode>
void run_watched(const task& asked) {
    if (const std::string why = become_watched(modes[Mode]); !why.empty()) return asked.out.fail(why);
    run_calls(asked);
    const hook::region_counts counts = counted_in(region_name);
    forget_recording();
    const std::size_t calls = asked.part == in_a_region ? 3 * asked.options.size("calls") : 0;
    if (counts.allocations != calls || counts.quick_locks < calls) asked.out.fail("not every call was counted");
}

std::string_view left_out(const parameters&, std::size_t) { return why_not_watched(); }

/// Ways to watch a program are compared with each other. None is a way to allocate, so none counts as ours.
constexpr contestant watched(std::string_view name, std::string_view note, void (*run)(const task&)) {
    return {.name = name,
            .how = route::inlined,
            .role = contestant_role::peer,
            .kind = "library",
            .type = "libtenure_watch.so",
            .note = note,
            .parts = 0b11,
            .run = run,
            .left_out = left_out};
}

constexpr std::array<contestant, 4> all{
    contestant{.name = "not watched",
               .how = route::inlined,
               .role = contestant_role::peer,
               .peer = "C library",
               .kind = "library",
               .type = "libc.so.6",
               .note = "the calls themselves",
               .parts = 0b11,
               .run = run_calls},
    watched("watched without stacks", "places by the calling line", run_watched<0>),
    watched("watched by frame pointers", "", run_watched<1>),
    watched("watched by tables", "the default of `tenure watch`", run_watched<2>),
};

std::span<const contestant> contestants() { return all; }
constexpr std::array<contestant_source, 1> sources{contestants};

constexpr std::array<primary_figure, 3> primary{{{"mutex pair"}, {"malloc and free"}, {"snprintf"}}};

constexpr experiment described{
    .name = "watch",
    .question = "What does `tenure watch` cost the program that it watches?",
    .unfair = unfair,
    .baseline = "not watched",
    .options = options,
    .parts = parts,
    .sources = sources,
    .properties = nullptr,
    .quotients = {},
    .ranking_rule = {},
    .unranked = {},
    .primary = primary,
    .example = "tenure bench watch --depth 20",
};

}

const experiment watch_experiment = described;

}
