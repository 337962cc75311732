// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Large blocks of mixed sizes that are alive together, replaced in random order.

#include <algorithm>
#include <string_view>

#include "bench/experiments/heap/heap_blocks.hpp"
#include "bench/experiments/large/large_memory.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"
#include "bench/harness/stopwatch.hpp"

namespace tenure::lab {

/// As many blocks as fit into a number of bytes.
template<class Allocator>
class many_blocks {
public:
    many_blocks(Allocator& allocator, const parameters& options, random_source random)
        : allocator_(allocator), random_(random), max_live_(options.size("live-mib") * mebibyte),
          max_bytes_(options.size("many-largest-kib") << 10) {}

    /// Allocates and writes blocks until `bytes` of them have been written; frees others when there is no room.
    void run(std::size_t bytes) {
        for (std::size_t written = 0; written < bytes;) {
            const std::size_t next = random_bytes();
            while (live_bytes_ + next > max_live_ || count_ == slots_.size()) free_one();
            allocate_one(next);
            written += next;
            written_ += next;
        }
    }

    /// Does not read the blocks.
    void free_all() {
        for (const held_block& block : blocks()) allocator_.deallocate(block.place, block.bytes);
        count_ = 0;
    }

    [[nodiscard]] std::span<const held_block> blocks() const { return slots_.all().first(count_); }
    [[nodiscard]] bool intact() const { return intact_; }
    [[nodiscard]] double allocate_us() const { return allocate_ns_ / 1e3 / static_cast<double>(allocations_); }
    [[nodiscard]] double free_us() const {
        return free_ns_ / 1e3 / static_cast<double>(std::max<std::size_t>(frees_, 1));
    }
    [[nodiscard]] double all_ns_per_kib() const {
        return (allocate_ns_ + write_ns_ + free_ns_) / (static_cast<double>(written_) / 1024.0);
    }

private:
    /// Every doubling from 4 KiB on is equally likely.
    std::size_t random_bytes() {
        std::size_t doublings = 0;
        while ((std::size_t{8192} << doublings) <= max_bytes_) ++doublings;
        const std::size_t low = std::size_t{4096} << random_.below(std::max<std::size_t>(doublings, 1));
        return low + random_.below(low + 1);
    }

    static unsigned char value_of(const held_block& block) { return static_cast<unsigned char>(1 + block.stamp % 255); }

    void allocate_one(std::size_t bytes) {
        held_block& made = slots_[count_++];
        const stopwatch allocation;
        made = {allocator_.allocate(bytes), static_cast<std::uint32_t>(bytes), ++stamps_};
        allocate_ns_ += allocation.elapsed_ns();
        ++allocations_;
        if (made.place == nullptr) refused();
        const stopwatch writing;
        write_whole(made.place, bytes, value_of(made));
        write_ns_ += writing.elapsed_ns();
        live_bytes_ += bytes;
    }

    void free_one() {
        const std::size_t slot = random_.below(count_);
        const held_block gone = slots_[slot];
        slots_[slot] = slots_[--count_];
        live_bytes_ -= gone.bytes;
        intact_ &= holds_whole(gone.place, gone.bytes, value_of(gone));
        const stopwatch freeing;
        allocator_.deallocate(gone.place, gone.bytes);
        free_ns_ += freeing.elapsed_ns();
        ++frees_;
    }

    static constexpr std::size_t max_slots = 8192;

    Allocator& allocator_;
    random_source random_;
    std::size_t max_live_, max_bytes_;
    page_array<held_block> slots_{max_slots};
    std::size_t count_ = 0, live_bytes_ = 0, written_ = 0;
    std::uint32_t stamps_ = 0;
    std::size_t allocations_ = 0, frees_ = 0;
    double allocate_ns_ = 0, write_ns_ = 0, free_ns_ = 0;
    bool intact_ = true;
};

template<class Allocator>
void run_many(const task& asked) {
    constexpr std::string_view variant = "many at once";
    const std::size_t volume = asked.options.size("volume-mib") * mebibyte;
    Allocator allocator = make_allocator<Allocator>(asked.options.size("live-mib") * mebibyte);
    many_blocks<Allocator> work(allocator, asked.options, random_source(asked.seed));
    const memory_meter meter;
    work.run(volume);
    const memory_peak peak = read_peak(meter);
    if (!work.intact()) return asked.out.fail(wrong_contents);
    if (!show_and_check(asked, allocator, work.blocks())) return;
    work.free_all();
    asked.out.value("alloc, write, free", variant, "ns/KiB", work.all_ns_per_kib());
    asked.out.value("alloc", variant, "us", work.allocate_us());
    asked.out.value("free", variant, "us", work.free_us());
    tell_memory(asked, allocator, meter, peak, variant);
}

}
