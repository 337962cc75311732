// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks that grow by reallocate, as vectors and strings do: by half of their size, and two in turn by a fixed step.

#include <algorithm>
#include <string_view>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// A growing block; the new part is written whole each time.
template<class Allocator>
class growing_block {
public:
    growing_block(Allocator& allocator, std::size_t bytes)
        : allocator_(allocator), block_(static_cast<unsigned char*>(allocator.allocate(bytes))), bytes_(bytes) {
        if (block_ == nullptr) refused();
        write_whole(block_, bytes, value_at(0));
        begins_[0] = 0;
        pieces_ = 1;
    }

    /// Returns the nanoseconds of the call, without the writing; adds those of the writing to `write_ns`.
    double grow(std::size_t bytes, double& write_ns) {
        const stopwatch watch;
        void* const moved = allocator_.reallocate(block_, bytes);
        const double spent = watch.elapsed_ns();
        if (moved == nullptr) refused();
        block_ = static_cast<unsigned char*>(moved);
        intact_ &=
            is_aligned(block_, default_alignment) && block_[0] == value_at(0) && block_[bytes_ - 1] == last_value();
        if (pieces_ == max_pieces) refused();
        begins_[pieces_] = bytes_;
        const stopwatch writing;
        write_whole(block_ + bytes_, bytes - bytes_, value_at(pieces_++));
        write_ns += writing.elapsed_ns();
        bytes_ = bytes;
        return spent;
    }

    /// Reads everything back, then frees.
    bool end() {
        for (std::size_t i = 0; i < pieces_; ++i) {
            const std::size_t end = i + 1 < pieces_ ? begins_[i + 1] : bytes_;
            intact_ &= holds_whole(block_ + begins_[i], end - begins_[i], value_at(i));
        }
        allocator_.deallocate(block_, bytes_);
        return intact_;
    }

    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] void* place() const { return block_; }

private:
    static constexpr std::size_t max_pieces = 4096;
    static constexpr unsigned char value_at(std::size_t piece) { return static_cast<unsigned char>(1 + piece % 255); }
    [[nodiscard]] unsigned char last_value() const { return value_at(pieces_ - 1); }

    Allocator& allocator_;
    unsigned char* block_;
    std::size_t bytes_;
    std::size_t pieces_ = 0;
    bool intact_ = true;
    page_array<std::size_t> begins_{max_pieces};
};

constexpr std::size_t growth_begin = 4096, growth_step = std::size_t{64} << 10;

/// Nanoseconds of the calls, and of everything.
struct growth_ns {
    double calls = 0, writes = 0;
    bool intact = true;
};

/// Grows by half each time, to `bytes`.
template<class Allocator, class Look>
growth_ns grow_by_half(Allocator& allocator, std::size_t bytes, const Look& look) {
    growth_ns spent;
    growing_block<Allocator> one(allocator, growth_begin);
    while (one.bytes() < bytes) {
        const std::size_t half_more = (one.bytes() + one.bytes() / 2) / 16 * 16;
        spent.calls += one.grow(std::min(half_more, bytes), spent.writes);
    }
    look(one.place(), one.bytes());
    spent.intact = one.end();
    return spent;
}

/// Grows two blocks in turn, by a step each time, so that neither can simply extend into the memory after it.
template<class Allocator>
growth_ns grow_two_in_turn(Allocator& allocator, std::size_t bytes) {
    growth_ns spent;
    growing_block<Allocator> one(allocator, growth_step), other(allocator, growth_step);
    while (one.bytes() < bytes) {
        const std::size_t more = one.bytes() + growth_step;
        spent.calls += one.grow(more, spent.writes);
        spent.calls += other.grow(more, spent.writes);
    }
    const bool sound = one.end();
    spent.intact = other.end() && sound;
    return spent;
}

template<class Allocator>
void run_growth(const task& asked) {
    constexpr std::string_view by_half = "grown by half", in_turn = "two grown in turn";
    const std::size_t bytes = asked.options.size("grown-mib") * mebibyte, repeats = asked.options.size("growths");
    const page_array<double> half_calls(repeats), half_all(repeats), turn_calls(repeats), turn_all(repeats);
    const memory_meter meter;
    memory_peak peak;
    Allocator allocator = make_allocator<Allocator>(2 * bytes);
    for (std::size_t i = 0; i < repeats; ++i) {
        const growth_ns half = grow_by_half(allocator, bytes, [&](void* block, std::size_t whole) {
            asked.out.blocks({&block, 1}, whole, owner_of(allocator));
            if (i == 0) peak.huge_mib = meter.huge_mib();
        });
        const growth_ns turn = grow_two_in_turn(allocator, bytes / 4);
        if (!half.intact || !turn.intact)
            return asked.out.fail("a block that grew did not hold the data written to it");
        half_calls[i] = half.calls;
        half_all[i] = half.calls + half.writes;
        turn_calls[i] = turn.calls;
        turn_all[i] = turn.calls + turn.writes;
    }
    peak.mib = meter.peak_mib();
    asked.out.value("realloc", by_half, "us", median_of(half_calls.all()) / 1e3);
    asked.out.value("realloc, write", by_half, "us", median_of(half_all.all()) / 1e3);
    asked.out.value("realloc", in_turn, "us", median_of(turn_calls.all()) / 1e3);
    asked.out.value("realloc, write", in_turn, "us", median_of(turn_all.all()) / 1e3);
    tell_memory(asked, allocator, meter, peak, "growth");
}

}
