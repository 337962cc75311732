// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory that one heap acquires from its source: limited, found by address, and counted.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>
#include <tenure/heap/detail/use_limit.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A segment of 32 MiB starts at a multiple of its size, so masking a pointer finds its head. A heap over a small source
// has smaller segments, down to 256 KiB, of which the head takes 32 KiB.
constexpr std::size_t slice_bytes = std::size_t{32} * 1024;
constexpr std::size_t max_segment_bytes = std::size_t{32} << 20;
constexpr std::size_t min_segment_bytes = std::size_t{256} << 10;
constexpr std::size_t max_slices = max_segment_bytes / slice_bytes;
// A segment of the maximum size is mapped in part at first, and extended in place when its mapped part is used up. The
// addresses behind that part may belong to others. Smaller segments are mapped whole.
constexpr std::size_t segment_step_bytes = std::size_t{1} << 20;

/// The start of every segment, whether it holds pages of small blocks, large blocks or one huge block.
struct segment_head {
    /// The size class of each slice's blocks, or one of the numbers below.
    std::uint8_t class_of_slice[max_slices];

    /// Changes a slice's number while other threads read it: either number leads a free to a place for the block.
    void set_number(std::size_t slice, std::uint8_t number) noexcept {
        store_atomically(class_of_slice[slice], number, memory_order::relaxed);
    }
    /// A slice's number. The same instruction as a plain load.
    [[nodiscard]] TENURE_LOCAL TENURE_ALWAYS_INLINE std::uint8_t number_of(std::size_t slice) const noexcept {
        return load_atomically(class_of_slice[slice], memory_order::relaxed);
    }

    [[nodiscard]] static segment_head* of(const void* inside, std::size_t segment_bytes) noexcept {
        return static_cast<segment_head*>(pointer_at(align_down(address_of(inside), segment_bytes)));
    }
    [[nodiscard]] static std::size_t slice_of(const void* inside, std::size_t segment_bytes) noexcept {
        return (address_of(inside) & (segment_bytes - 1)) / slice_bytes;
    }
};
// While a heap counts its allocations (small/counted_blocks.cpp), the number of a page's slices is the class plus this.
// The number before these belongs to no slice: it is what class_for() answers for larger requests.
constexpr std::uint8_t counted_classes = small_class_count + 1;
constexpr std::uint8_t guarded_class = 83; ///< every slice of the area of sampled guarded blocks
constexpr std::uint8_t tagged_class = 84;  ///< a page of an owner tag, whose record has the class
constexpr std::uint8_t watched_class = 85; ///< a page with a block of the heap profile; its record has the class
constexpr std::uint8_t huge_class = 86;    ///< every slice in the head of a huge block
constexpr std::uint8_t large_class = 87;   ///< every slice of a segment of large blocks
constexpr std::uint8_t no_class = 88;      ///< a slice that holds no blocks
constexpr std::size_t class_numbers = 89;
static_assert(guarded_class == counted_classes + small_class_count);

[[nodiscard]] constexpr bool is_counted_number(std::size_t number) noexcept {
    return number - counted_classes < small_class_count;
}
/// Whether slices of this number belong to a page of small blocks.
[[nodiscard]] constexpr bool is_page_number(std::uint8_t number) noexcept {
    return number < small_class_count || is_counted_number(number) || number == tagged_class || number == watched_class;
}

/// What starts at a segment-aligned address.
enum class head_kind : std::uint8_t {
    none,
    segment, ///< the mapped part of a segment of this heap; all of it belongs to the heap
    huge,    ///< the head of a huge block of this heap; the block's memory may end anywhere
};

/// A process with less free memory than this needs no thread that returns it.
constexpr std::size_t swept_from_bytes = std::size_t{4} << 20;

/// Threads   any.
class heap_memory {
public:
    constexpr explicit heap_memory(block_source& source, std::size_t segment_bytes = max_segment_bytes,
                                   std::size_t limit_bytes = max_object_bytes) noexcept
        : source_(source), segment_bytes_(segment_bytes), limit_bytes_(limit_bytes) {}
    heap_memory(const heap_memory&) = delete;
    heap_memory& operator=(const heap_memory&) = delete;

    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }

    /// Acquires memory at a multiple of the larger of the segment size and `alignment`.
    /// Returns   nullptr when the source fails, the limit is reached, or the source ignores the alignment.
    [[nodiscard]] void* acquire(std::size_t bytes, std::size_t alignment) noexcept;
    /// Reports, once, that the source returned a misaligned block, which acquire() rejected. Call it without any lock
    /// of the heap, because the report handler may use the heap.
    void report_misaligned() noexcept {
        if (misaligned_.load(memory_order::relaxed) != 0) [[unlikely]]
            write_misaligned();
    }
    void release(void* memory, std::size_t bytes) noexcept;
    [[nodiscard]] bool extend(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;

    /// Acquires and announces a segment: `preferred_bytes` of it if possible, at least `least_bytes`. `mapped_bytes`
    /// receives the size, a multiple of segment_step().
    /// Returns   nullptr as acquire().
    [[nodiscard]] segment_head* acquire_segment(std::size_t preferred_bytes, std::size_t least_bytes,
                                                std::uint8_t class_of_all, std::size_t& mapped_bytes) noexcept;
    /// Extends the mapped part of a segment in place, to twice its size if possible, by at least `least_bytes`.
    /// Returns   the new size; the old one when the source fails, the limit is reached, or the addresses are taken.
    [[nodiscard]] std::size_t extend_segment(segment_head& head, std::size_t mapped_bytes, std::size_t least_bytes,
                                             std::uint8_t class_of_all) noexcept;
    /// Returns the end of the mapped part to the source.
    /// Returns   whether the source could.
    [[nodiscard]] bool shrink_segment(segment_head& head, std::size_t mapped_bytes, std::size_t new_bytes) noexcept;
    void release_segment(segment_head& head, std::size_t mapped_bytes) noexcept;
    /// The unit of a segment's mapped size.
    [[nodiscard]] std::size_t segment_step() const noexcept {
        return segment_bytes_ == max_segment_bytes ? segment_step_bytes : segment_bytes_;
    }

    /// Moves memory to another size; the result is segment-aligned. If the source ignores the alignment, the contents
    /// are copied; if there is no memory for the copy, the process aborts.
    [[nodiscard]] void* remap(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept;
    bool decommit(void* part, std::size_t bytes) noexcept;
    /// Zeroes part of a block. In a large part, only pieces that are mostly resident are written; the others are
    /// decommitted. A retained block that was mostly untouched therefore takes no more memory than before.
    void clear(void* part, std::size_t bytes) noexcept;
    /// Whether neither the source nor the limit restricts addresses.
    [[nodiscard]] bool is_plentiful() const noexcept;
    [[nodiscard]] bool is_zeroed() const noexcept { return source_.is_zeroed(); }

    /// Registers a whole segment that did not come from the source, and sets the class of all its slices.
    [[nodiscard]] bool announce_area(segment_head& head, std::uint8_t class_of_all) noexcept;
    /// Registers the head of a huge block; withdraw() removes it.
    [[nodiscard]] bool announce_huge(segment_head& head) noexcept;
    void withdraw(segment_head& head) noexcept;
    /// What starts at the segment-aligned address below `pointer`. Accepts any pointer, takes no lock and does not read
    /// that memory. Only the first segment of a huge block is known.
    [[nodiscard]] head_kind kind_of(const void* pointer) const noexcept;

    /// Whether this many more bytes may be in use. Asked before count_use(), for a request that can fail.
    [[nodiscard]] bool may_use(std::size_t bytes) const noexcept { return use_limit_.allows(in_use_bytes(), bytes); }
    [[nodiscard]] use_limit& limit_of_use() noexcept { return use_limit_; }

    /// Counts bytes used by pages and blocks. The counter is shared by all threads: slow paths only.
    void count_use(std::size_t bytes) noexcept;
    void uncount_use(std::size_t bytes) noexcept { in_use_bytes_.fetch_sub(bytes, memory_order::relaxed); }
    void change_use(std::size_t before, std::size_t after) noexcept {
        after > before ? count_use(after - before) : uncount_use(before - after);
    }

    /// Counts bytes that became free, or of pages in which a block became free: slow paths only.
    // Sequentially consistent with can_want_background() and with the end of the background thread, may_end(): the free
    // sees that no thread is left, or the thread sees the bytes. Weaker orders lose both on ARM64.
    void note_freed(std::size_t bytes) noexcept { freed_bytes_.fetch_add(bytes, memory_order::seq_cst); }
    [[nodiscard]] bool is_worth_sweeping() const noexcept {
        return freed_bytes_.load(memory_order::seq_cst) >= swept_from_bytes;
    }
    void forget_freed() noexcept { freed_bytes_.store(0, memory_order::relaxed); }
    /// Begins a sweep: sweeps are numbered, and what was freed before counts no longer.
    void begin_sweep() noexcept {
        forget_freed();
        sweeps_.fetch_add(1, memory_order::relaxed);
    }
    /// The number of the latest sweep. It wraps around.
    [[nodiscard]] std::uint16_t sweeps() const noexcept { return sweeps_.load(memory_order::relaxed); }
    /// Counts bytes that were returned between blocks in use.
    void count_holes(std::size_t bytes) noexcept { hole_bytes_.fetch_add(bytes, memory_order::relaxed); }
    void uncount_holes(std::size_t bytes) noexcept { hole_bytes_.fetch_sub(bytes, memory_order::relaxed); }
    [[nodiscard]] std::size_t hole_bytes() const noexcept { return hole_bytes_.load(memory_order::relaxed); }
    void count_purged(std::size_t bytes) noexcept { purged_bytes_.fetch_add(bytes, memory_order::relaxed); }
    /// Counts bytes that sweeps returned and that were requested again within the purge delay.
    void count_thrash(std::size_t bytes) noexcept { thrash_bytes_.fetch_add(bytes, memory_order::relaxed); }
    [[nodiscard]] std::size_t purged_bytes() const noexcept { return purged_bytes_.load(memory_order::relaxed); }
    [[nodiscard]] std::size_t thrash_bytes() const noexcept { return thrash_bytes_.load(memory_order::relaxed); }
    /// Whether any thread may call the source.
    [[nodiscard]] bool is_shared() const noexcept { return source_.threads() == sharing::any_thread; }

    [[nodiscard]] std::size_t in_use_bytes() const noexcept { return in_use_bytes_.load(memory_order::relaxed); }
    [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_.load(memory_order::relaxed); }
    [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_.load(memory_order::relaxed); }
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }
    [[nodiscard]] std::size_t source_blocks() const noexcept { return blocks_.load(memory_order::relaxed); }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    [[nodiscard]] bool charge_limit(std::size_t bytes) noexcept;
    [[nodiscard]] bool announce_segment(segment_head& head, std::size_t mapped_bytes) noexcept;
    [[nodiscard]] bool can_extend(void* memory, std::size_t bytes) noexcept;
    TENURE_COLD void write_misaligned() noexcept;
    [[nodiscard]] TENURE_COLD void* copy_aligned(void* odd, std::size_t bytes) noexcept;

    platform::mutex mutex_; ///< serializes the source's calls: the source may be single-threaded
    block_source& source_;
    const std::size_t segment_bytes_;
    const std::size_t limit_bytes_;
    // Relaxed, except freed_bytes_: counters, a hint, and an address to report, by which nothing else is read. A
    // compare-exchange keeps reserved_bytes_ within the limit. freed_bytes_ is sequentially consistent: see
    // note_freed().
    atomic<std::size_t> reserved_bytes_{0};
    atomic<std::size_t> blocks_{0};
    atomic<bool> is_rigid_{false};         ///< whether the source has shown that it cannot extend a block
    atomic<std::uintptr_t> misaligned_{0}; ///< address of a misaligned block, still to be reported
    atomic<std::size_t> in_use_bytes_{0};
    atomic<std::size_t> peak_bytes_{0};
    atomic<std::size_t> freed_bytes_{0}; ///< since the last sweep
    atomic<std::uint16_t> sweeps_{0};
    atomic<std::size_t> hole_bytes_{0};
    atomic<std::size_t> purged_bytes_{0};
    atomic<std::size_t> thrash_bytes_{0};
    use_limit use_limit_;
};

/// Counts freed bytes for heap_memory::note_freed() in steps, because that counter is shared by all threads.
/// Threads   one at a time: each owner has its own, under its lock.
class freed_steps {
public:
    void add(heap_memory& memory, std::size_t bytes) noexcept {
        constexpr std::size_t step = std::size_t{256} * 1024;
        bytes_ += bytes;
        if (bytes_ >= step) memory.note_freed(std::exchange(bytes_, 0));
    }

private:
    std::size_t bytes_ = 0;
};

}
