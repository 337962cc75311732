// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// malloc and free in a process under a limit on addresses.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/experiments/limits/limited_process.hpp"
#include "bench/experiments/limits/limits.hpp"
#include "bench/harness/block_check.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

namespace {

constexpr std::size_t kibibyte = 1024, mebibyte = kibibyte * kibibyte;

double mib(std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(mebibyte); }

/// The start of a small block while it is allocated.
struct link {
    link* next;
    std::uintptr_t mark; ///< made from the block's own address
};

constexpr std::uintptr_t mark_of(const link* block) {
    return reinterpret_cast<std::uintptr_t>(block) ^ 0x5A5A'5A5A'5A5A'5A5AU;
}

/// Allocates small blocks until one is refused, and frees them all.
/// Returns   the bytes that were served; 0 also when a block did not hold its mark.
std::size_t fill_with_small(std::size_t bytes, bool& intact) {
    link* first = nullptr;
    std::size_t served = 0;
    while (void* const block = std::malloc(bytes)) {
        auto* const made = static_cast<link*>(block);
        *made = {first, mark_of(made)};
        escape(made);
        first = made;
        served += bytes;
    }
    while (first != nullptr && intact) {
        link* const gone = first;
        intact = gone->mark == mark_of(gone);
        first = gone->next;
        std::free(gone);
    }
    return served;
}

/// The largest block that is served, to 256 KiB, written at both ends. It is freed again.
std::size_t largest_block(std::size_t limit) {
    constexpr std::size_t exact = 256 * kibibyte;
    std::size_t served = 0;
    for (std::size_t refused = limit; refused - served > exact;) {
        const std::size_t bytes = served + (refused - served) / 2;
        auto* const block = static_cast<char*>(std::malloc(bytes));
        if (block == nullptr) {
            refused = bytes;
            continue;
        }
        block[0] = block[bytes - 1] = 1;
        escape(block);
        std::free(block);
        served = bytes;
    }
    return served;
}

/// Shows blocks to the proof.
void show(const task& asked) {
    constexpr std::size_t bytes = 64;
    std::array<void*, 1000> blocks{};
    for (void*& block : blocks) block = std::malloc(bytes);
    asked.out.blocks(blocks, bytes);
    const std::string_view fault = check_blocks(blocks, bytes, malloc_alignment(bytes));
    if (!fault.empty()) return asked.out.fail(fault);
    for (void* const block : blocks) std::free(block);
}

struct order {
    std::string_view first, second, third;
};
constexpr order small_first{"small blocks", "then the largest block", "then small blocks again"};
constexpr order large_first{"the largest block", "then small blocks", "then the largest block again"};

void run_under_limit(const task& asked) {
    const bool begins_small = asked.part == limits_part::small_first;
    const std::size_t limit = asked.options.size("limit-kib") * kibibyte;
    const std::size_t small = asked.options.size("small-bytes");
    const std::string why_not = go_on_under_limit(limit);
    bool intact = true;
    std::array<std::size_t, 3> served{};
    if (why_not.empty()) {
        for (std::size_t phase = 0; phase < served.size(); ++phase)
            served[phase] = begins_small == (phase != 1) ? fill_with_small(small, intact) : largest_block(limit);
        lift_limit();
    }
    if (!intact) return asked.out.fail("a block did not hold the data written to it");
    if (!why_not.empty())
        asked.out.note(fmt::format("under a limit of {} KiB of addresses: {}", limit / kibibyte, why_not));
    const order& names = begins_small ? small_first : large_first;
    const std::string variant = fmt::format("{} KiB, {} first", limit / kibibyte, begins_small ? "small" : "large");
    asked.out.value(names.first, variant, "MiB", mib(served[0]), better::larger);
    asked.out.value(names.second, variant, "MiB", mib(served[1]), better::larger);
    asked.out.value(names.third, variant, "MiB", mib(served[2]), better::larger);
    show(asked);
}

/// The smallest limit under which the program runs, to 64 KiB.
void run_least(const task& asked) {
    constexpr std::size_t exact = 64 * kibibyte;
    constexpr std::size_t highest = std::size_t{1} << 46;    // half of the addresses that a process has
    const char* const preloaded = std::getenv("LD_PRELOAD"); // NOLINT(concurrency-mt-unsafe): one thread
    const std::string_view library = preloaded == nullptr ? std::string_view{} : preloaded;
    std::size_t runs = mebibyte;
    while (runs < highest && !program_runs_under_limit(runs, library)) runs *= 2;
    if (runs >= highest) return asked.out.fail("/bin/cat runs under no limit, or without the malloc preloaded");
    for (std::size_t fails = runs / 2; runs - fails > exact;) {
        const std::size_t between = fails + (runs - fails) / 2;
        if (program_runs_under_limit(between, library))
            runs = between;
        else
            fails = between;
    }
    asked.out.value("smallest limit", "a program that hardly allocates", "MiB", mib(runs));
    show(asked);
}

void run_limits(const task& asked) {
    if (asked.part == limits_part::least) return run_least(asked);
    run_under_limit(asked);
}

constexpr std::array<contestant, 1> in_limits{{
    {.how = route::process_malloc, .role = contestant_role::peer, .parts = limits_part::all, .run = run_limits},
}};

}

std::span<const contestant> mallocs_in_limits() { return in_limits; }

}
