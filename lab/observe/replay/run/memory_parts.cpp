// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/replay/run/memory_parts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/machine/memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"
#include "observe/replay/run/part_pieces.hpp"
#include "observe/replay/run/replay_experiment.hpp"
#include "report/chart/resident_chart.hpp"

namespace tenure::lab {

namespace {

constexpr double bytes_per_mib = 1024.0 * 1024.0;

/// The process's memory above what it had before the first call.
class resident_above_base {
public:
    resident_above_base() {
        static_cast<void>(read_memory()); // its buffer's page
        base_ = read_memory().resident;
    }
    [[nodiscard]] std::int64_t bytes() const {
        const std::size_t now = read_memory().resident;
        return now > base_ ? static_cast<std::int64_t>(now - base_) : 0;
    }
    [[nodiscard]] double mebibytes() const { return static_cast<double>(bytes()) / bytes_per_mib; }

private:
    std::size_t base_ = 0;
};

/// Takes the addresses that the malloc returns.
class neighbour_gaps : public bare_around {
public:
    neighbour_gaps(const plan_view& plan, void* const* held)
        : neighbours_(plan.neighbours), first_(plan.of_thread(0).data()), held_(held), bytes_(plan.slot_count + 1),
          gaps_(static_cast<std::size_t>(std::count_if(neighbours_.begin(), neighbours_.end(),
                                                       [](std::uint32_t each) { return each != no_neighbour; }))) {}

    void made(const plan_op& op, void* block, std::uint64_t) {
        bytes_[op.slot] = op.bytes;
        const std::uint32_t neighbour = neighbours_[static_cast<std::size_t>(&op - first_)];
        if (neighbour == no_neighbour) return;
        const auto here = reinterpret_cast<std::uintptr_t>(block);
        const auto there = reinterpret_cast<std::uintptr_t>(held_[neighbour]);
        gaps_[count_++] = bytes_between(there, bytes_[neighbour], here, op.bytes);
        same_page_ += here / os_page_bytes == there / os_page_bytes ? 1U : 0U;
    }

    void report(recorder& out) {
        constexpr std::string_view variant = "blocks used together";
        const std::span<std::uint64_t> all(gaps_.data(), count_);
        if (all.empty()) return;
        const auto share = [&](std::size_t part) {
            return 100.0 * static_cast<double>(part) / static_cast<double>(all.size());
        };
        const auto is_close = [](std::uint64_t gap) { return gap <= close_bytes; };
        const auto close = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_close));
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
        std::nth_element(all.begin(), middle, all.end());
        out.value(replay_close, variant, "%", share(close), better::neither);
        out.value(replay_same_page, variant, "%", share(same_page_), better::neither);
        out.value(replay_distance, variant, "B", static_cast<double>(*middle), better::neither);
        out.value(replay_pairs, variant, "", static_cast<double>(all.size()), better::neither);
    }

private:
    static constexpr std::uint64_t close_bytes = 64; // a cache line
    static constexpr std::uintptr_t os_page_bytes = 4096;

    std::span<const std::uint32_t> neighbours_;
    const plan_op* first_;
    void* const* held_;
    page_array<std::uint64_t> bytes_, gaps_; // by slot; by pair
    std::size_t count_ = 0, same_page_ = 0;
};

}

double mean_resident_per_live(std::span<const plan_place> places, std::span<const std::int64_t> resident_bytes) {
    const bool has_time = !places.empty() && places.back().time_ns > places.front().time_ns;
    double resident = 0, live = 0;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
        const std::uint64_t length =
            has_time ? places[i + 1].time_ns - places[i].time_ns : places[i + 1].event - places[i].event;
        resident += static_cast<double>(length) * static_cast<double>(resident_bytes[i]);
        live += static_cast<double>(length) * static_cast<double>(places[i].live_bytes);
    }
    return live > 0 ? resident / live : std::numeric_limits<double>::quiet_NaN();
}

/// Plays the trace in pieces and reads the process's memory between them.
void measure_memory(const task& asked, const plan_view& plan) {
    const page_array<void*> held(plan.slot_count + 1);
    const page_array<std::int64_t> readings(plan.places.size()), kibibytes(plan.places.size());
    const std::span<const plan_op> ops = plan.of_thread(0);
    redirects to(plan.routes);
    const resident_above_base resident;
    bool is_whole = true;
    with_touch(policy_of(asked), [&](auto around) {
        // A scope of Temp is open from one piece to the next, so the pieces share the loop's state.
        player_state state;
        std::size_t begin = 0;
        for (std::size_t i = 0; i < plan.places.size() && is_whole; ++i) {
            const auto end = static_cast<std::size_t>(plan.places[i].op);
            is_whole = play(ops.subspan(begin, end - begin), held.data(), to, around, state);
            begin = end;
            readings[i] = resident.bytes();
        }
        if (is_whole) is_whole = play(ops.subspan(begin), held.data(), to, around, state); // scopes that end now
        if (is_whole) free_rest(plan, held.data(), to, state);
    });
    if (!is_whole) return asked.out.fail(no_memory);
    const double at_the_end = resident.mebibytes();
    const double peak = static_cast<double>(*std::max_element(readings.all().begin(), readings.all().end()));
    for (std::size_t i = 0; i < readings.size(); ++i) kibibytes[i] = readings[i] / 1024;
    asked.out.value(replay_peak, {}, "MiB", peak / bytes_per_mib);
    asked.out.value("at the end", {}, "MiB", at_the_end);
    asked.out.value("peak of live bytes", {}, "MiB", static_cast<double>(plan.peak_bytes) / bytes_per_mib,
                    better::neither);
    // A replay of a few kilobytes says nothing about an allocator's memory.
    constexpr std::uint64_t least = std::uint64_t{1} << 20;
    if (plan.peak_bytes >= least) {
        asked.out.value("resident per live byte", {}, "B/B", peak / static_cast<double>(plan.peak_bytes),
                        better::neither);
        const double mean = mean_resident_per_live(plan.places, readings.all());
        if (std::isfinite(mean)) asked.out.value(replay_mean, {}, "B/B", mean, better::neither);
    }
    asked.out.course(course_resident, {}, "KiB", kibibytes.all());
}

void measure_later(const task& asked, const plan_view& plan) {
    using clock = std::chrono::steady_clock;
    using std::chrono::milliseconds;
    constexpr milliseconds between{1000 / resident_readings_per_second};
    struct moment {
        milliseconds after;
        std::string_view name;
        double mib;
    };
    std::array<moment, 3> moments{{{milliseconds{100}, "0.1 s later", 0},
                                   {milliseconds{1000}, "1 s later", 0},
                                   {milliseconds{5000}, "5 s later", 0}}};
    const milliseconds last{asked.options.size("wait") * 1000};
    const page_array<void*> held(plan.slot_count + 1);
    const page_array<std::int64_t> kibibytes(static_cast<std::size_t>(last / between) + 1);
    redirects to(plan.routes);
    const resident_above_base resident;
    bool is_whole = true;
    with_touch(policy_of(asked), [&](auto around) {
        player_state state;
        is_whole = play(plan.of_thread(0), held.data(), to, around, state);
        if (is_whole) free_rest(plan, held.data(), to, state);
    });
    if (!is_whole) return asked.out.fail(no_memory);
    const clock::time_point freed = clock::now();
    std::size_t reading = 0;
    for (milliseconds now{0}; now <= last; now += milliseconds{50}) {
        std::this_thread::sleep_until(freed + now);
        const bool is_listed = now % between == milliseconds{0};
        const auto shown =
            std::find_if(moments.begin(), moments.end(), [&](const moment& m) { return m.after == now; });
        if (!is_listed && shown == moments.end()) continue;
        const double mib = resident.mebibytes();
        if (is_listed) kibibytes[reading++] = static_cast<std::int64_t>(mib * 1024);
        if (shown != moments.end()) shown->mib = mib;
    }
    for (const moment& each : moments)
        if (each.after <= last) asked.out.value(each.name, later_variant, "MiB", each.mib);
    asked.out.list(resident_readings_name, later_variant, "KiB", kibibytes.all());
}

void measure_distances(const task& asked, const plan_view& plan) {
    if (plan.neighbours.size() < plan.of_thread(0).size())
        return asked.out.fail("its process did not receive which blocks are used together");
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    neighbour_gaps around(plan, held.data());
    player_state state;
    if (!play(plan.of_thread(0), held.data(), to, around, state)) return asked.out.fail(no_memory);
    around.report(asked.out);
    free_rest(plan, held.data(), to, state);
}

namespace {

/// Knows which pairs are in use.
class neighbour_visits : public bare_around {
public:
    neighbour_visits(const plan_view& plan, void* const* held)
        : neighbours_(plan.neighbours), first_(plan.of_thread(0).data()), held_(held), partners_(plan.slot_count + 1),
          partner_births_(plan.slot_count + 1), births_(plan.slot_count + 1) {}

    void made(const plan_op& op, void*, std::uint64_t) {
        const std::uint32_t neighbour = neighbours_[static_cast<std::size_t>(&op - first_)];
        births_[op.slot] = ++last_birth_;
        partner_births_[op.slot] = 0;
        if (neighbour == no_neighbour) return;
        partners_[op.slot] = neighbour;
        partner_births_[op.slot] = births_[neighbour];
    }
    void ending(const plan_op& op, void*) { births_[op.slot] = 0; }

    /// Both blocks of each pair, in the order in which the later block was allocated.
    [[nodiscard]] std::vector<std::pair<const void*, const void*>> pairs() {
        std::vector<std::pair<std::uint64_t, std::size_t>> order; // birth, slot
        for (std::size_t slot = 0; slot < births_.all().size(); ++slot) {
            if (births_[slot] != 0 && partner_births_[slot] != 0 && births_[partners_[slot]] == partner_births_[slot])
                order.emplace_back(births_[slot], slot);
        }
        std::sort(order.begin(), order.end());
        std::vector<std::pair<const void*, const void*>> found;
        found.reserve(order.size());
        for (const auto& [birth, slot] : order) found.emplace_back(held_[partners_[slot]], held_[slot]);
        return found;
    }

private:
    std::span<const std::uint32_t> neighbours_;
    const plan_op* first_;
    void* const* held_;
    page_array<std::uint32_t> partners_;                // by slot: the other block's
    page_array<std::uint64_t> partner_births_, births_; // by slot; zero: none, or not in use
    std::uint64_t last_birth_ = 0;
};

/// Returns   ns for each pair: the median of several walks over all of them.
[[nodiscard]] double visit_ns(std::span<const std::pair<const void*, const void*>> pairs) {
    constexpr std::size_t walks = 7;
    std::array<double, walks> spent{};
    std::uint64_t sum = 0;
    for (double& each : spent) {
        const stopwatch watch;
        for (const auto& [one, other] : pairs)
            sum += std::uint64_t{*static_cast<const volatile unsigned char*>(one)} +
                   *static_cast<const volatile unsigned char*>(other);
        each = watch.elapsed_ns();
    }
    static_cast<void>(sum);
    std::sort(spent.begin(), spent.end());
    return spent[walks / 2] / static_cast<double>(pairs.size());
}

}

void measure_visits(const task& asked, const plan_view& plan) {
    const std::span<const plan_op> ops = plan.of_thread(0);
    if (plan.neighbours.size() < ops.size())
        return asked.out.fail("its process did not receive which blocks are used together");
    const page_array<void*> held(plan.slot_count + 1);
    redirects to(plan.routes);
    neighbour_visits around(plan, held.data());
    player_state state;
    const auto peak = std::min<std::size_t>(static_cast<std::size_t>(plan.peak_op), ops.size());
    if (!play(ops.first(peak), held.data(), to, around, state)) return asked.out.fail(no_memory);
    std::vector<std::pair<const void*, const void*>> pairs = around.pairs();
    if (!pairs.empty()) {
        asked.out.value(replay_visit, visit_in_order, "ns", visit_ns(pairs));
        std::shuffle(pairs.begin(), pairs.end(), std::mt19937_64{1}); // NOLINT: the same order for both replays
        asked.out.value(replay_visit, visit_shuffled, "ns", visit_ns(pairs));
    }
    if (!play(ops.subspan(peak), held.data(), to, around, state)) return asked.out.fail(no_memory);
    free_rest(plan, held.data(), to, state);
}

}
