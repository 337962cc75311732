// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A program that frees most of its blocks and then waits: what its allocator returns to the system meanwhile.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "bench/experiments/fragmentation/fragmentation.hpp"
#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "report/chart/resident_chart.hpp"

namespace tenure::lab {

/// Allocates blocks of 512, 1024 and 2048 bytes and frees all but one in `keep`, in random order. Nobody calls the
/// allocator afterwards.
template<class Allocator>
void run_idle(const task& asked) {
    constexpr std::array<std::uint32_t, 3> sizes{512, 1024, 2048};
    constexpr std::size_t reads_per_second = resident_readings_per_second;
    const std::size_t count = asked.options.size("holes"), keep = asked.options.size("keep");
    const std::size_t seconds = asked.options.size("idle");
    random_source random(asked.seed);
    const page_array<held_block> blocks(count);
    const page_array<std::int64_t> kibibytes(seconds * reads_per_second + 1);
    Allocator allocator = make_allocator<Allocator>(count * sizes.back());
    const memory_meter meter;
    std::size_t live_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        blocks[i] = make_block(allocator, sizes[random.below(sizes.size())], static_cast<std::uint32_t>(i + 1));
        write_whole(blocks[i].place, blocks[i].bytes, static_cast<unsigned char>(i));
        stamp_block(blocks[i]);
    }
    const memory_peak peak = read_peak(meter);
    shuffle(blocks.all(), random);
    const std::size_t kept = count / keep;
    bool intact = true;
    for (const held_block& block : blocks.all().subspan(kept)) intact &= free_checked(allocator, block);
    for (const held_block& block : blocks.all().first(kept)) live_bytes += block.bytes;
    if (!intact) return asked.out.fail(wrong_stamp);

    const std::string variant = fmt::format("{} blocks, one in {} kept", count, keep);
    asked.out.value("resident at the peak", variant, "MiB", peak.mib, better::neither);
    asked.out.value("still alive", variant, "MiB", static_cast<double>(live_bytes) / static_cast<double>(mebibyte),
                    better::neither);
    double resident = meter.resident_mib(); // frees may have touched more pages
    const double most = std::max(peak.mib, resident);
    const auto share = [&](double now) { return std::max(0.0, 100 * (most - now) / most); };
    asked.out.value("returned at once", variant, "%", share(resident), better::larger);
    kibibytes[0] = static_cast<std::int64_t>(resident * 1024);
    for (std::size_t second = 1; second <= seconds; ++second) {
        for (std::size_t read = 1; read <= reads_per_second; ++read) {
            std::this_thread::sleep_for(std::chrono::milliseconds{1000 / reads_per_second});
            resident = meter.resident_mib();
            kibibytes[(second - 1) * reads_per_second + read] = static_cast<std::int64_t>(resident * 1024);
        }
        if (second == 1 || second == 3 || second == seconds)
            asked.out.value(fmt::format("returned after {} s", second), variant, "%", share(resident), better::larger);
    }
    asked.out.list(resident_readings_name, variant, "KiB", kibibytes.all());
    if (!show_and_check(asked, allocator, blocks.all().first(kept))) return;
    for (const held_block& block : blocks.all().first(kept)) allocator.deallocate(block.place, block.bytes);
}

}
