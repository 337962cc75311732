// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pattern of source 003, which fragments a heap that keeps large blocks in one place: each block is a little
/// larger than the one freed before it, and a small block between them stays.

#include <chrono>
#include <string_view>
#include <thread>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

constexpr std::size_t retained_bytes = 90'000; ///< the article's number

struct pattern_ns {
    double calls = 0, writes = 0;
};

template<class Allocator>
class fragmenting_pattern {
public:
    fragmenting_pattern(Allocator& allocator, const parameters& options, std::span<held_block> kept)
        : allocator_(allocator), first_bytes_(options.size("pattern-mib") * mebibyte), kept_(kept) {}

    /// The maximum number of bytes alive at once.
    static std::size_t max_bytes(const parameters& options) {
        const std::size_t count = options.size("pattern-blocks");
        return (options.size("pattern-mib") + count) * mebibyte + count * align_up(retained_bytes, 4096);
    }

    /// Writes everything whole. Reads each large block back whole before freeing it, untimed.
    pattern_ns run(const memory_meter& meter, memory_peak& peak) {
        pattern_ns spent;
        for (std::size_t i = 0; i < kept_.size(); ++i) {
            const std::size_t bytes = first_bytes_ + i * mebibyte;
            void* const large = take(bytes, i, spent);
            intact_ &= is_aligned(large, default_alignment) && holds_whole(large, bytes, value_at(i));
            if (i + 1 == kept_.size()) peak = read_peak(meter);
            const stopwatch freeing;
            allocator_.deallocate(large, bytes);
            spent.calls += freeing.elapsed_ns();
            kept_[i] = {take(retained_bytes, i, spent), retained_bytes, 0};
        }
        return spent;
    }

    /// Whether every block held the data written to it, including those that are still alive.
    [[nodiscard]] bool intact() {
        for (std::size_t i = 0; i < kept_.size(); ++i)
            intact_ &= holds_whole(kept_[i].place, retained_bytes, value_at(i));
        return intact_;
    }

    void free_kept() {
        for (const held_block& block : kept_) allocator_.deallocate(block.place, block.bytes);
    }

private:
    static constexpr unsigned char value_at(std::size_t i) { return static_cast<unsigned char>(1 + i % 255); }

    void* take(std::size_t bytes, std::size_t i, pattern_ns& spent) {
        const stopwatch allocation;
        void* const block = allocator_.allocate(bytes);
        spent.calls += allocation.elapsed_ns();
        if (block == nullptr) refused();
        const stopwatch writing;
        write_whole(block, bytes, value_at(i));
        spent.writes += writing.elapsed_ns();
        return block;
    }

    Allocator& allocator_;
    std::size_t first_bytes_;
    std::span<held_block> kept_;
    bool intact_ = true;
};

template<class Allocator>
void run_pattern(const task& asked) {
    constexpr std::string_view variant = "pattern of 003";
    const page_array<held_block> kept(asked.options.size("pattern-blocks"));
    const memory_meter meter;
    Allocator allocator = make_allocator<Allocator>(fragmenting_pattern<Allocator>::max_bytes(asked.options));
    fragmenting_pattern<Allocator> pattern(allocator, asked.options, kept.all());
    memory_peak peak;
    const pattern_ns spent = pattern.run(meter, peak);
    if (!pattern.intact()) return asked.out.fail(wrong_contents);
    if (!show_and_check(asked, allocator, kept.all())) return;
    pattern.free_kept();
    asked.out.value("alloc, write, free", variant, "ms", (spent.calls + spent.writes) / 1e6);
    asked.out.value("of it alloc and free", variant, "ms", spent.calls / 1e6);
    tell_memory(asked, allocator, meter, peak, variant);
}

/// Reads what stays resident while the small blocks are alive: at once, and after a wait and further calls.
template<class Allocator>
void run_pattern_and_wait(const task& asked) {
    constexpr std::string_view variant = "pattern of 003, the small blocks alive";
    const page_array<held_block> kept(asked.options.size("pattern-blocks"));
    const memory_meter meter;
    Allocator allocator = make_allocator<Allocator>(fragmenting_pattern<Allocator>::max_bytes(asked.options));
    fragmenting_pattern<Allocator> pattern(allocator, asked.options, kept.all());
    memory_peak peak;
    pattern.run(meter, peak);
    const double at_once = meter.resident_mib();
    std::this_thread::sleep_for(std::chrono::milliseconds{asked.options["wait-ms"]});
    for (const std::size_t bytes : {std::size_t{64}, 8 * mebibyte}) {
        void* const block = allocator.allocate(bytes);
        if (block == nullptr) refused();
        escape(block);
        allocator.deallocate(block, bytes);
    }
    const double later = meter.resident_mib();
    const bool trims = allocator.trim();
    const double trimmed = meter.resident_mib();
    if (!pattern.intact()) return asked.out.fail(wrong_contents);
    if (!show_and_check(asked, allocator, kept.all())) return;
    pattern.free_kept();
    asked.out.value("peak", variant, "MiB", peak.mib);
    asked.out.value("at once", variant, "MiB", at_once);
    asked.out.value("after a wait and two calls", variant, "MiB", later);
    if (trims) asked.out.value("after trim", variant, "MiB", trimmed);
}

}
