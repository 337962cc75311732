// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What one thread allocates from in an affinity group: a stream for all sizes, or one for each size.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/affinity/detail/affinity_bits.hpp>
#include <tenure/affinity/detail/affinity_pages.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// How many listed pages a refill may search before it acquires a page.
enum class page_search : std::uint8_t { bounded, all };

/// The memory in which a thread allocates one object after the other, and the runs that it freed last. Freeing a tree
/// from its leaves leaves a gap for each inner node and closes it later: two runs are compared at every free, and a few
/// more wait to be joined, one for each level of the tree. That saves a lock for most runs.
///
/// Threads   functions with affinity_pages need the group's lock, in a shared group; the others only the stream's
///           thread.
/// Fork      freed runs are written without a lock, one address at a time, in an order that repair() knows.
class alignas(cache_line_bytes) affinity_stream {
public:
    /// `index` is zero for the stream of all sizes.
    explicit affinity_stream(std::size_t index = 0) noexcept : index_(static_cast<std::uint8_t>(index)) {}

    affinity_run extent; ///< its free rest: objects are allocated from the beginning

    /// Frees an object that is adjacent to the run freed last.
    /// Returns   false, and changes nothing, for any other object.
    [[nodiscard]] TENURE_LOCAL bool extend_freed(unsigned char* begin, unsigned char* end) noexcept;
    /// Frees the object that was allocated last, or begins a new run if there is room for one.
    /// Returns   false, and changes nothing, for any other object and for memory that is free in this stream.
    [[nodiscard]] bool rewind_or_begin_freed(const affinity_bits& bits, unsigned char* begin,
                                             unsigned char* end) noexcept;
    /// Whether an address is in the extent, or in one of the two runs that were freed last.
    [[nodiscard]] bool contains_free(const void* at) const noexcept {
        return extent.contains(at) || freed_.contains(at) || older_.contains(at);
    }
    [[nodiscard]] std::size_t free_bytes() const noexcept {
        std::size_t sum = extent.bytes() + freed_.bytes() + older_.bytes();
        for (unsigned each = 0; each < waiting_count_; ++each) sum += waiting_[each].bytes();
        return sum;
    }

    /// Allocates from the extent, with a gap if the alignment needs one.
    /// Returns   nullptr when the extent has no room.
    [[nodiscard]] unsigned char* allocate(affinity_pages& pages, affinity_request wanted) noexcept;
    /// Finds an extent with room in the run freed last, or in the rest of the stream's page.
    /// Returns   false when there is none. Then the stream has no memory and no page.
    [[nodiscard]] bool refill_from_own(affinity_pages& pages, affinity_request wanted) noexcept;
    /// Finds an extent with room in the group's pages.
    /// Returns   false when there is none.
    [[nodiscard]] bool refill(affinity_pages& pages, affinity_request wanted, page_search search) noexcept;
    /// Frees all runs but the last to their pages.
    void flush_older(affinity_pages& pages) noexcept;
    /// Frees the rest of the extent. The next one is searched behind it.
    void end_extent(affinity_pages& pages) noexcept;
    /// Returns everything to the group's pages.
    void release(affinity_pages& pages) noexcept;
    /// Makes a stream consistent that its thread may have been writing when another thread forked. An object that was
    /// just freed may stay in use.
    void repair() noexcept;

private:
    void flush(affinity_pages& pages) noexcept;
    void release_page(affinity_pages& pages) noexcept;
    void set_page(affinity_page& page) noexcept;
    void set_extent(const affinity_bits& bits, affinity_run run) noexcept;
    [[nodiscard]] bool reuse_freed(affinity_pages& pages, affinity_request wanted) noexcept;
    [[nodiscard]] bool next_run(affinity_pages& pages, affinity_request wanted) noexcept;
    [[nodiscard]] static bool join(affinity_run& to, affinity_run run) noexcept;
    [[nodiscard]] bool let_older_wait() noexcept;

    static constexpr unsigned max_waiting = 4;

    affinity_run freed_;                ///< freed last; its bits are not yet set, nor are those of the others
    affinity_run older_;                ///< freed before it; empty while there is no other
    affinity_page* page_ = nullptr;     ///< the page that extents come from
    std::uint16_t scanned_ = 0;         ///< granules of it that were searched for runs
    std::uint16_t skipped_ = 0;         ///< granules in all runs that were too small
    std::uint16_t largest_skipped_ = 0; ///< granules in the largest of them
    std::uint8_t index_;
    std::uint8_t waiting_count_ = 0;
    affinity_run waiting_[max_waiting]; ///< freed before older_, in its page, the newest last
};
static_assert(sizeof(affinity_stream) == 2 * cache_line_bytes);

/// What a thread allocates from.
struct affinity_part {
    // Relaxed: its thread alone writes it, others read it for statistics.
    atomic<std::ptrdiff_t> live_count{0}; ///< the thread's allocations minus its frees: may be negative
    affinity_part* next = nullptr;
    affinity_part* previous = nullptr;
    affinity_stream streams[affinity_stream_count];

    affinity_part() noexcept { clear(); }
    /// Forgets everything.
    void clear() noexcept {
        live_count.store(0, memory_order::relaxed);
        for (std::size_t index = 0; index < affinity_stream_count; ++index) streams[index] = affinity_stream(index);
    }
    /// Returns the memory of every stream to the group's pages.
    void release(affinity_pages& pages) noexcept {
        for (affinity_stream& each : streams) each.release(pages);
    }
    /// Exchanges what two groups' parts hold, without their places in lists.
    void exchange(affinity_part& other) noexcept {
        const std::ptrdiff_t mine = live_count.load(memory_order::relaxed);
        live_count.store(other.live_count.load(memory_order::relaxed), memory_order::relaxed);
        other.live_count.store(mine, memory_order::relaxed);
        for (std::size_t index = 0; index < affinity_stream_count; ++index)
            std::swap(streams[index], other.streams[index]);
    }
    void count(std::ptrdiff_t change) noexcept {
        live_count.store(live_count.load(memory_order::relaxed) + change, memory_order::relaxed);
    }
};

inline bool affinity_stream::extend_freed(unsigned char* begin, unsigned char* end) noexcept {
    if (end == freed_.begin) {
        freed_.begin = begin;
        if (begin == older_.end) [[unlikely]] { // the gap between the two runs is closed
            freed_.begin = older_.begin;
            signal_fence(memory_order::release); // see repair()
            older_.begin = older_.end = nullptr;
        }
    } else if (begin == freed_.end) {
        freed_.end = end;
        if (end == older_.begin) [[unlikely]] {
            freed_.end = older_.end;
            signal_fence(memory_order::release);
            older_.begin = older_.end = nullptr;
        }
    } else {
        return false;
    }
    return true;
}

/// Extends a run by an adjacent one.
/// Returns   false, and changes nothing, for any other run.
inline bool affinity_stream::join(affinity_run& to, affinity_run run) noexcept {
    if (run.end == to.begin) {
        to.begin = run.begin;
    } else if (run.begin == to.end) {
        to.end = run.end;
    } else {
        return false;
    }
    return true;
}

/// Empties older_ into the waiting runs. All of them begin in the page of the run freed last: they keep no other page.
/// Returns   false, and changes nothing, when older_ begins in another page, or there is no room.
inline bool affinity_stream::let_older_wait() noexcept {
    affinity_run* const newest = waiting_count_ == 0 ? nullptr : &waiting_[waiting_count_ - 1];
    const auto is_elsewhere = [this](affinity_run run) {
        return (address_of(run.begin) ^ address_of(freed_.begin)) >= affinity_page_bytes;
    };
    if (is_elsewhere(older_) || (newest != nullptr && is_elsewhere(*newest))) return false;
    if (newest == nullptr || !join(*newest, older_)) {
        if (waiting_count_ == max_waiting) return false;
        waiting_[waiting_count_] = older_;
        signal_fence(memory_order::release); // see repair()
        ++waiting_count_;
    }
    signal_fence(memory_order::release);
    older_.begin = nullptr;
    signal_fence(memory_order::release);
    older_.end = nullptr;
    return true;
}

TENURE_ALWAYS_INLINE bool affinity_stream::rewind_or_begin_freed(const affinity_bits& bits, unsigned char* begin,
                                                                 unsigned char* end) noexcept {
    if (contains_free(begin)) return false;
    if (end == extent.begin && (address_of(end) & (affinity_page_bytes - 1)) != 0) {
        // Only inside the extent's page: at a page boundary the object may be in the page before. At the end of the
        // extent another object may begin.
        if (bits.has_starts && index_ == 0 && end != extent.end) bits.unmark_start(end);
        extent.begin = begin;
        return true;
    }
    if (older_.begin != nullptr && !let_older_wait()) return false;
    signal_fence(memory_order::release);
    // This order matters to the child of a fork: repair().
    if (waiting_count_ == 0 || !join(waiting_[waiting_count_ - 1], freed_)) {
        older_.begin = freed_.begin;
        older_.end = freed_.end;
    }
    signal_fence(memory_order::release);
    freed_.end = nullptr;
    signal_fence(memory_order::release);
    freed_.begin = begin;
    signal_fence(memory_order::release);
    freed_.end = end;
    return true;
}

}
