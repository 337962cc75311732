// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Loops of malloc and free, with glibc, the plain drop-in, and the hardened one in each of its settings.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/experiments/mitigations/mitigation_signs.hpp"
#include "bench/experiments/mitigations/mitigations.hpp"
#include "bench/experiments/shared/handover.hpp"
#include "bench/harness/block_check.hpp"
#include "bench/harness/machine/cpus.hpp"
#include "bench/harness/mallocs/malloc_peers.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

void* allocate_escaped(std::size_t bytes) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) std::abort();
    escape(block);
    return block;
}

void write_first(void* block) {
    *static_cast<char*>(block) = 1;
    escape(block);
}

void one_at_a_time(std::size_t pairs) {
    for (std::size_t pair = 0; pair < pairs; ++pair) std::free(allocate_escaped(64));
}

/// Replaces one of a thousand blocks of 16 to 512 bytes.
void at_random(std::size_t pairs, std::uint64_t seed) {
    std::array<void*, 1000> blocks{};
    random_source random(seed);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        const std::uint64_t drawn = random();
        void*& block = blocks[(drawn & 0xFFFF'FFFF) * blocks.size() >> 32];
        std::free(block);
        block = allocate_escaped(16 + ((drawn >> 32) * 497 >> 32));
        write_first(block);
    }
    for (void* const block : blocks) std::free(block);
}

constexpr std::size_t batch = 500;

void many_at_once(std::size_t pairs) {
    std::array<void*, batch> blocks{};
    for (std::size_t done = 0; done < pairs; done += blocks.size()) {
        for (void*& block : blocks) {
            block = allocate_escaped(64);
            write_first(block);
        }
        for (void* const block : blocks) std::free(block);
    }
}

constexpr std::size_t large_bytes = 300'000;

void large_and_written(std::size_t pairs) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        void* const block = allocate_escaped(large_bytes);
        std::memset(block, 1, large_bytes);
        escape(block);
        std::free(block);
    }
}

/// The median over the passes; the first, which touches fresh memory, is not timed.
template<class Loop>
double median_ns(std::size_t passes, const Loop& loop) {
    const page_array<double> times(passes);
    loop();
    for (double& time : times.all()) {
        const stopwatch watch;
        loop();
        time = watch.elapsed_ns();
    }
    return median_of(times.all());
}

constexpr double calls_per_pair = 2;

void run_one_thread(const task& asked) {
    const std::size_t pairs = asked.options.size("pairs"), passes = asked.options.size("passes");
    const std::size_t large_pairs = asked.options.size("large-pairs");
    const double calls = calls_per_pair * static_cast<double>(pairs);
    const double one = median_ns(passes, [&] { one_at_a_time(pairs); });
    const double random = median_ns(passes, [&] { at_random(pairs, asked.seed); });
    // Whole batches: the last may be more than the pairs that are left.
    const std::size_t batched = (pairs + batch - 1) / batch * batch;
    const double many = median_ns(passes, [&] { many_at_once(batched); });
    const double large = median_ns(passes, [&] { large_and_written(large_pairs); });
    constexpr double ns_per_us = 1000;
    asked.out.value("64 B, one block", "one thread", "ns/call", one / calls);
    asked.out.value("16 to 512 B, at random", "one thread", "ns/call", random / calls);
    asked.out.value("64 B, 500 blocks at once", "one thread", "ns/call",
                    many / calls_per_pair / static_cast<double>(batched));
    asked.out.value("300 KB, allocated, written, freed", "one thread", "us",
                    large / static_cast<double>(large_pairs) / ns_per_us);
}

void run_two_threads(const task& asked) {
    constexpr std::size_t count = 2;
    const std::size_t pairs = asked.options.size("pairs"), passes = asked.options.size("passes");
    const page_array<double> times(count * passes);
    meeting_point meeting(count);
    const auto work = [&](std::size_t index) {
        pin_thread(index);
        unsigned met = 0;
        at_random(pairs, asked.seed + index);
        for (std::size_t pass = 0; pass < passes; ++pass) {
            meeting.meet(met);
            const stopwatch watch;
            at_random(pairs, asked.seed + index);
            times[index * passes + pass] = watch.elapsed_ns();
        }
    };
    {
        const std::jthread other(work, 1);
        work(0);
    }
    const page_array<double> slower(passes);
    for (std::size_t pass = 0; pass < passes; ++pass) slower[pass] = std::max(times[pass], times[passes + pass]);
    asked.out.value("16 to 512 B, at random", "two threads", "ns/call",
                    median_of(slower.all()) / calls_per_pair / static_cast<double>(pairs));
}

/// Shows blocks of 64 bytes to the proof and checks them.
void show(const task& asked) {
    const page_array<void*> blocks(1000);
    for (void*& block : blocks.all()) block = allocate_escaped(64);
    asked.out.blocks(blocks.all(), 64);
    const std::string_view fault = check_blocks(blocks.all(), 64, malloc_alignment(64));
    if (!fault.empty()) return asked.out.fail(fault);
    for (void* const block : blocks.all()) std::free(block);
}

void run_mitigations(const task& asked) {
    if (asked.part == mitigations_part::two_threads)
        run_two_threads(asked);
    else
        run_one_thread(asked);
    show(asked);
}

constexpr std::string_view unguarded = "TENURE_HEAP_GUARD_SAMPLE=0";

/// A setting of the hardened drop-in.
struct setting {
    std::string_view name;
    std::string_view seen; ///< what seen_mitigations() must answer
    std::array<std::string_view, 2> environment;
};
constexpr std::string_view all_seen =
    "canary, front, form, size, fill, quarantine, shuffle, zero_size, guards, records";
constexpr std::array<setting, 14> settings{{
    {"hardened: none", "none", {"TENURE_HEAP_MITIGATIONS=none", unguarded}},
    {"hardened: double_free", "none", {"TENURE_HEAP_MITIGATIONS=double_free", unguarded}},
    {"hardened: canary", "canary", {"TENURE_HEAP_MITIGATIONS=canary", unguarded}},
    {"hardened: front", "front", {"TENURE_HEAP_MITIGATIONS=front", unguarded}},
    {"hardened: form", "form", {"TENURE_HEAP_MITIGATIONS=form", unguarded}},
    {"hardened: size", "size", {"TENURE_HEAP_MITIGATIONS=size", unguarded}},
    {"hardened: fill", "fill", {"TENURE_HEAP_MITIGATIONS=fill", unguarded}},
    {"hardened: quarantine", "quarantine", {"TENURE_HEAP_MITIGATIONS=quarantine", unguarded}},
    {"hardened: shuffle", "shuffle", {"TENURE_HEAP_MITIGATIONS=shuffle", unguarded}},
    {"hardened: zero_size", "zero_size", {"TENURE_HEAP_MITIGATIONS=zero_size", unguarded}},
    {"hardened: guards", "guards", {"TENURE_HEAP_MITIGATIONS=guards", unguarded}},
    {"hardened: records", "records", {"TENURE_HEAP_MITIGATIONS=records", unguarded}},
    {"hardened: all", all_seen, {"TENURE_HEAP_MITIGATIONS=all", unguarded}},
    {"hardened: all and sampled guards",
     "canary, front, form, size, fill, quarantine, shuffle, zero_size, guards, records, sampled guards",
     {"TENURE_HEAP_MITIGATIONS=all", "TENURE_HEAP_GUARD_SAMPLE=5000"}},
}};

/// Whether the process was started with "NAME=VALUE".
bool has_in_environment(std::string_view entry) {
    const std::size_t equals = entry.find('=');
    const char* const value =
        std::getenv(std::string{entry.substr(0, equals)}.c_str()); // NOLINT(concurrency-mt-unsafe)
    return value != nullptr && entry.substr(equals + 1) == value;
}

template<std::size_t Index>
void run_setting(const task& asked) {
    constexpr const setting& own = settings[Index];
    for (const std::string_view entry : own.environment) {
        if (!has_in_environment(entry)) return asked.out.fail(fmt::format("it was started without {}", entry));
    }
    const std::string seen = seen_mitigations(); // before the process has guard pages of the measured blocks
    if (seen != own.seen) {
        return asked.out.fail(fmt::format("with {}, these mitigations allocate_escaped effect: {}; expected {}",
                                          own.environment[0], seen, own.seen));
    }
    run_mitigations(asked);
    asked.out.note(fmt::format("{}; {}; seen at work: {}", own.environment[0], own.environment[1], seen));
}

constexpr contestant on_malloc(std::string_view name, contestant_role role) {
    contestant made{.how = route::process_malloc, .role = role};
    made.peer = name;
    made.parts = mitigations_part::all;
    made.run = run_mitigations;
    return made;
}

template<std::size_t... Indices>
constexpr std::array<contestant, 2 + sizeof...(Indices)> all_contestants(std::index_sequence<Indices...>) {
    const auto hardened = []<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
        contestant made = on_malloc(own_hardened_name, contestant_role::checked);
        made.name = settings[Index].name;
        made.environment = settings[Index].environment;
        made.run = run_setting<Index>;
        return made;
    };
    return {on_malloc(system_malloc_name, contestant_role::peer), on_malloc(own_malloc_name, contestant_role::ours),
            hardened(std::integral_constant<std::size_t, Indices>{})...};
}

constexpr auto in_mitigations = all_contestants(std::make_index_sequence<settings.size()>{});

}

std::span<const contestant> mallocs_in_mitigations() { return in_mitigations; }

}
