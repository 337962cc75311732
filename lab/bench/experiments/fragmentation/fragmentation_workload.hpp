// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A long-running server. For the allocator interface, see `heap_blocks.hpp`.
///
/// A constant number of bytes is alive at any time. Sizes grow with each epoch. Within an epoch the live set is
/// replaced several times: a batch is allocated and written whole, then random blocks are freed until the live set has
/// its size again. Two blocks in a hundred stay until the end and pin their pages.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "bench/experiments/fragmentation/fragmentation.hpp"
#include "bench/experiments/fragmentation/idle_workload.hpp"
#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/experiments/shared/server_sizes.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

template<class Allocator>
class server {
public:
    static constexpr std::size_t batch = 64;
    static constexpr std::size_t staying_percent = 2;
    static constexpr double last_scale = 8; ///< sizes of the last epoch relative to those of the first

    server(Allocator& allocator, const parameters& options, std::uint64_t seed)
        : allocator_(allocator), random_(seed), max_live_(options.size("live-mib") * mebibyte),
          epochs_(options.size("epochs")), turnover_bytes_(options.size("turnovers") * max_live_),
          passing_(max_live_ / min_bytes), staying_(passing_.size()) {}

    void fill() { allocate_bytes(max_live_, 1); }

    void run_epoch(std::size_t epoch) {
        const double grown = epochs_ > 1 ? static_cast<double>(epoch) / static_cast<double>(epochs_ - 1) : 0;
        allocate_bytes(turnover_bytes_, std::pow(last_scale, grown));
    }

    void free_passing() { free_list(passing_.all().first(passing_count_), passing_count_); }
    void free_staying() { free_list(staying_.all().first(staying_count_), staying_count_); }

    /// Every live block, in one list.
    [[nodiscard]] page_array<held_block> alive() const {
        page_array<held_block> all(passing_count_ + staying_count_);
        std::size_t next = 0;
        for (std::size_t i = 0; i < passing_count_; ++i) all[next++] = passing_[i];
        for (std::size_t i = 0; i < staying_count_; ++i) all[next++] = staying_[i];
        return all;
    }

    [[nodiscard]] double staying_mib() const {
        return static_cast<double>(staying_bytes_) / static_cast<double>(mebibyte);
    }
    [[nodiscard]] double allocate_ns() const { return allocate_ns_ / static_cast<double>(allocations_); }
    [[nodiscard]] double free_ns() const { return free_ns_ / static_cast<double>(std::max<std::size_t>(frees_, 1)); }
    [[nodiscard]] bool intact() const { return intact_; }

private:
    static constexpr std::size_t min_bytes = 64; ///< the lists have room for blocks with this mean

    static unsigned char value_of(const held_block& block) { return static_cast<unsigned char>(1 + block.stamp % 255); }

    void allocate_bytes(std::size_t bytes, double scale) {
        for (std::size_t done = 0; done < bytes;) {
            std::array<std::uint32_t, batch> sizes;
            for (std::uint32_t& size : sizes) size = server_bytes(random_, scale);
            std::array<held_block, batch> made;
            allocate_batch(sizes, made);
            for (const held_block& block : made) {
                write_whole(block.place, block.bytes, value_of(block));
                stamp_block(block);
                keep(block);
                done += block.bytes;
            }
            while (live_bytes_ > max_live_ && passing_count_ > 0) free_some();
        }
    }

    [[gnu::noinline]] void allocate_batch(std::span<const std::uint32_t> sizes, std::span<held_block> made) {
        const stopwatch watch;
        for (std::size_t i = 0; i < sizes.size(); ++i) made[i] = make_block(allocator_, sizes[i], ++stamps_);
        allocate_ns_ += watch.elapsed_ns();
        allocations_ += sizes.size();
    }

    void keep(const held_block& block) {
        live_bytes_ += block.bytes;
        const bool stays = random_.below(100) < staying_percent && staying_bytes_ < max_live_ / 4;
        if (stays && staying_count_ < staying_.size()) {
            staying_[staying_count_++] = block;
            staying_bytes_ += block.bytes;
            return;
        }
        if (passing_count_ == passing_.size()) free_some();
        passing_[passing_count_++] = block;
    }

    /// Frees random blocks until the live bytes are back at the limit: at least one block, at most a batch.
    void free_some() {
        std::array<held_block, batch> gone;
        std::size_t count = 0;
        do {
            const std::size_t place = random_.below(passing_count_);
            gone[count] = passing_[place];
            passing_[place] = passing_[--passing_count_];
            live_bytes_ -= gone[count].bytes;
            look_at(gone[count++]);
        } while (count < batch && live_bytes_ > max_live_ && passing_count_ > 0);
        free_batch(std::span{gone}.first(count));
    }

    [[gnu::noinline]] void free_batch(std::span<const held_block> blocks) {
        const stopwatch watch;
        for (const held_block& block : blocks) allocator_.deallocate(block.place, block.bytes);
        free_ns_ += watch.elapsed_ns();
        frees_ += blocks.size();
    }

    /// Reads both ends; whole blocks are checked at the end.
    void look_at(const held_block& block) {
        unsigned char last = 0;
        std::memcpy(&last, static_cast<unsigned char*>(block.place) + block.bytes - 1, 1);
        intact_ &= stamp_holds(block) && last == value_of(block);
    }

    void free_list(std::span<held_block> blocks, std::size_t& count) {
        shuffle(blocks, random_);
        for (const held_block& block : blocks) allocator_.deallocate(block.place, block.bytes);
        count = 0;
    }

    Allocator& allocator_;
    random_source random_;
    std::size_t max_live_, epochs_, turnover_bytes_;
    page_array<held_block> passing_, staying_;
    std::size_t passing_count_ = 0, staying_count_ = 0;
    std::size_t live_bytes_ = 0, staying_bytes_ = 0;
    std::uint32_t stamps_ = 0;
    std::size_t allocations_ = 0, frees_ = 0;
    double allocate_ns_ = 0, free_ns_ = 0;
    bool intact_ = true;
};

template<class Allocator>
void run_fragmentation(const task& asked) {
    if (asked.part == fragmentation_part::idle) return run_idle<Allocator>(asked);
    constexpr std::size_t shown = 4; // points in time that the tables show; the list has every epoch
    const std::size_t epochs = asked.options.size("epochs");
    const page_array<double> resident(epochs);
    const page_array<std::int64_t> kibibytes(epochs);
    Allocator allocator = make_allocator<Allocator>(asked.options.size("live-mib") * mebibyte);
    server<Allocator> work(allocator, asked.options, asked.seed);
    const memory_meter meter;
    work.fill();
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        work.run_epoch(epoch);
        resident[epoch] = meter.resident_mib();
        kibibytes[epoch] = static_cast<std::int64_t>(resident[epoch] * 1024);
    }
    const memory_peak peak = read_peak(meter);
    if (!work.intact()) return asked.out.fail(wrong_contents);
    {
        const page_array<held_block> alive = work.alive();
        if (!show_and_check(asked, allocator, alive.all())) return;
    }
    work.free_passing();
    const double max_freed = meter.resident_mib();
    const bool trims = allocator.trim();
    const double max_freed_trimmed = meter.resident_mib();
    work.free_staying();

    const std::string variant = fmt::format("{} MiB alive", asked.options["live-mib"]);
    asked.out.value("alloc", variant, "ns/op", work.allocate_ns());
    asked.out.value("free", variant, "ns/op", work.free_ns());
    for (std::size_t i = 1; i <= shown; ++i) {
        const std::string name = fmt::format("resident after {} % of the run", 100 * i / shown);
        asked.out.value(name, variant, "MiB", resident[(epochs * i + shown - 1) / shown - 1]);
    }
    asked.out.list("resident", variant, "KiB", kibibytes.all());
    const std::string few = variant + ", then most of it freed";
    asked.out.value("still alive", few, "MiB", work.staying_mib(), better::neither);
    asked.out.value("resident", few, "MiB", max_freed);
    if (trims) asked.out.value("resident, trimmed", few, "MiB", max_freed_trimmed);
    tell_memory(asked, allocator, meter, peak, variant);
}

}
