// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Each part is one way to go around the calls: see run/player.hpp.

#include "observe/replay/run/replay_worker.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/harness/tick_clock.hpp"
#include "observe/replay/plan/plan_file.hpp"
#include "observe/replay/run/content_check.hpp"
#include "observe/replay/run/memory_parts.hpp"
#include "observe/replay/run/part_pieces.hpp"
#include "observe/replay/run/player.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "observe/replay/run/threads.hpp"

namespace tenure::lab {

namespace {

/// The proof asks about live blocks of the process's malloc, and at the end of a replay all are freed.
void show_blocks(const task& asked) {
    std::array<void*, 512> blocks{};
    constexpr std::size_t bytes = 2000;
    for (void*& each : blocks) each = std::malloc(bytes);
    asked.out.blocks(blocks, bytes);
    for (void* const each : blocks) std::free(each);
}

void measure_time(const task& asked, const plan_view& plan) {
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    const std::size_t repeats = asked.options.size("repeat");
    page_array<double> spent_ns(repeats);
    bool is_whole = true;
    with_touch(policy_of(asked), [&](auto around) {
        for (std::size_t i = 0; i < repeats && is_whole; ++i) {
            player_state state;
            const stopwatch watch;
            is_whole = play(plan.of_thread(0), held.data(), to, around, state);
            spent_ns[i] = watch.elapsed_ns();
            if (is_whole) free_rest(plan, held.data(), to, state);
        }
    });
    if (!is_whole) return asked.out.fail(no_memory);
    const double calls = static_cast<double>(std::max<std::uint64_t>(plan.calls, 1));
    // What happens once in a process, as the first block of an arena, is seen only here.
    asked.out.value(replay_first, "one thread", "ns/op", spent_ns[0] / calls);
    const double median = median_of(spent_ns.all());
    asked.out.value(replay_time, "one thread", "ns/op", median / calls);
    asked.out.value("whole trace", "one thread", "ms", median / 1e6);
}

/// Reads the counter around each call.
template<touch_policy Policy>
class timing : public touching<Policy> {
public:
    explicit timing(std::span<const plan_op> ops)
        : allocations_(count_of(ops, is_allocating)), frees_(count_of(ops, is_freeing)),
          resizes_(count_of(ops, [](plan_call call) { return call == plan_call::resize; })), cost_(tick_cost()) {}

    void before(const plan_op&) { began_ = ticks_before(); }
    void after(const plan_op& op) {
        const std::uint64_t spent = ticks_after() - began_;
        list& to = op.call == plan_call::resize ? resizes_ : is_allocating(op.call) ? allocations_ : frees_;
        to.ticks[to.count++] =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(spent > cost_ ? spent - cost_ : 0, UINT32_MAX));
    }

    void report(const task& asked, double ns_per_tick) {
        report_list(asked, allocations_, calls_allocate, ns_per_tick);
        report_list(asked, frees_, calls_free, ns_per_tick);
        report_list(asked, resizes_, calls_realloc, ns_per_tick);
        asked.out.value(replay_timer_step, {}, "ns", static_cast<double>(tick_step()) * ns_per_tick, better::neither);
    }

private:
    template<class Is>
    static std::size_t count_of(std::span<const plan_op> ops, Is is) {
        return static_cast<std::size_t>(
            std::count_if(ops.begin(), ops.end(), [&](const plan_op& each) { return is(each.call); }));
    }

    struct list {
        explicit list(std::size_t calls) : ticks(calls) {}
        page_array<std::uint32_t> ticks;
        std::size_t count = 0;
    };

    static void report_list(const task& asked, list& of, std::string_view variant, double ns_per_tick) {
        if (of.count == 0) return;
        const std::span<std::uint32_t> sorted(of.ticks.data(), of.count);
        std::sort(sorted.begin(), sorted.end());
        struct percentile {
            std::string_view name;
            double share;
            std::size_t least_calls; ///< of fewer, it is the worst call itself
        };
        constexpr std::array<percentile, 6> wanted{{{"p50", 0.5, 1},
                                                    {"p99", 0.99, 1},
                                                    {"p99.9", 0.999, 1'000},
                                                    {"p99.99", 0.9999, 10'000},
                                                    {"p99.999", 0.99999, 100'000},
                                                    {"worst", 1, 1}}};
        for (const auto& [name, share, least_calls] : wanted) {
            if (of.count < least_calls) continue;
            const double place = share * static_cast<double>(of.count - 1);
            // What is shorter than a step is shown as that, and compared as if it had taken the step.
            const std::uint64_t ticks = std::max<std::uint64_t>(sorted[static_cast<std::size_t>(place)], tick_step());
            asked.out.value(name, variant, "ns", static_cast<double>(ticks) * ns_per_tick,
                            name == "worst" ? better::neither : better::smaller);
        }
    }

    list allocations_, frees_, resizes_;
    std::uint64_t began_ = 0, cost_;
};

template<touch_policy Policy>
void measure_calls_with(const task& asked, const plan_view& plan) {
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    timing<Policy> around(plan.of_thread(0));
    const tick_length length;
    player_state state;
    if (!play(plan.of_thread(0), held.data(), to, around, state)) return asked.out.fail(no_memory);
    around.report(asked, length.ns());
    free_rest(plan, held.data(), to, state);
}

void measure_calls(const task& asked, const plan_view& plan) {
    switch (policy_of(asked)) {
    case touch_policy::none: return measure_calls_with<touch_policy::none>(asked, plan);
    case touch_policy::pages: return measure_calls_with<touch_policy::pages>(asked, plan);
    case touch_policy::ends: return measure_calls_with<touch_policy::ends>(asked, plan);
    case touch_policy::whole: return measure_calls_with<touch_policy::whole>(asked, plan);
    }
}

void check_contents(const task& asked, const plan_view& plan) {
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    content_check around(plan.slot_count);
    player_state state;
    if (!play(plan.of_thread(0), held.data(), to, around, state)) return asked.out.fail(no_memory);
    if (!play(plan.tail_of(0), held.data(), to, around, state)) return asked.out.fail(no_memory);
    if (!around.wrong().empty()) return asked.out.fail(around.wrong());
    if (around.misaligned() != 0)
        asked.out.note(
            fmt::format("{} blocks did not have the alignment that the program asked for", around.misaligned()));
    asked.out.value(replay_digest, {}, "digest", static_cast<double>(around.digest()), better::neither);
}

void measure_threads(const task& asked, const plan_view& plan) {
    const std::size_t repeats = asked.options.size("repeat");
    const page_array<double> spent_ns(repeats);
    std::string_view failure;
    const page_array<void*> held(plan.slot_count + 1);
    with_touch(policy_of(asked), [&](auto around) {
        redirects to(plan.routes);
        for (std::size_t i = 0; i < repeats && failure.empty(); ++i) {
            const threads_outcome found = play_threads(plan, held.data(), to, around);
            failure = found.failure;
            spent_ns[i] = found.spent_ns;
            player_state state;
            if (failure.empty()) free_rest(plan, held.data(), to, state);
        }
    });
    if (!failure.empty()) return asked.out.fail(failure);
    asked.out.value(replay_time, "threads as recorded", "ns/op",
                    median_of(spent_ns.all()) / static_cast<double>(std::max<std::uint64_t>(plan.calls, 1)));
}

}

void run_replay(const task& asked, std::size_t plan) {
    const std::vector<plan_view> plans = map_plans(asked.options.input());
    const std::size_t chosen = asked.part == part_threads ? 1 : plan;
    if (chosen >= plans.size()) return asked.out.fail("its process did not receive the operations of the replay");
    const plan_view& view = plans[chosen];
    switch (asked.part) {
    case part_time: measure_time(asked, view); break;
    case part_calls: measure_calls(asked, view); break;
    case part_memory: measure_memory(asked, view); break;
    case part_contents: check_contents(asked, view); break;
    case part_later: measure_later(asked, view); break;
    case part_distances: measure_distances(asked, view); break;
    case part_visits: measure_visits(asked, view); break;
    default: measure_threads(asked, view); break;
    }
    show_blocks(asked);
}

}
