// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Allocates and frees the pages of one heap.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/purge/slice_pages.hpp>
#include <tenure/heap/detail/purge/sweep.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

class page_map;

/// Threads   any; one lock per call, which is one per page.
class heap_pages {
public:
    constexpr explicit heap_pages(heap_memory& memory) noexcept : memory_(memory) {}
    ~heap_pages() { release_all(); }
    heap_pages(const heap_pages&) = delete;
    heap_pages& operator=(const heap_pages&) = delete;

    /// Allocates a page of the class, without an owner and with no block in use, for a shard with or without a tag.
    /// Returns   nullptr when the source fails.
    [[nodiscard]] small_page* allocate(std::size_t class_index, bool is_tagged) noexcept;
    /// Requires  no block of the page is in use or cached.
    void deallocate(small_page& page) noexcept;

    /// Returns empty segments and the memory of free slices.
    /// Returns   the number of bytes returned.
    std::size_t trim() noexcept;
    /// A sweep in steps of 2 MiB: decommits the slices that were already free and touched at the previous sweep
    /// and, if it is thorough, what is free in pages that have not changed since then. Releases segments that have been
    /// empty for longer. Locks are held for one system call or one page at a time. Requires  the caller excludes trim()
    /// and release_all() during each call.
    class sweep_place {
        friend heap_pages;
        heap_segment* segment = nullptr;
        std::size_t word = 0; ///< of the segment's bits
        std::size_t releases = 0;
    };
    [[nodiscard]] sweep_place begin_sweep() const noexcept;
    /// Returns   whether there is more to sweep.
    bool sweep_some(sweep_place& place, sweep_scope scope, sweep_result& result) noexcept;
    /// Returns the addresses behind the last slice in use of each segment, where the source can take them.
    /// Returns   the number of bytes.
    std::size_t release_tails() noexcept;
    /// Releases every segment, including those in use.
    void release_all() noexcept;

    /// Calls `visit(context, page)` for every page.
    /// Requires  no other thread allocates or frees pages meanwhile.
    void for_each_page(void (*visit)(void* context, small_page&), void* context) const noexcept;

    /// What each OS page is used for: profile/page_map.cpp.
    /// Requires  the caller excludes trim() and release_all().
    void map(page_map& to) const noexcept;

    // The heap profile: small/counted_blocks.cpp.
    /// Begins or ends counting: changes the numbers of all slices, and forgets which blocks are in the profile.
    void count_allocations(bool are_counted) noexcept;
    /// The number of the profile that counts; zero: none.
    [[nodiscard]] std::uint32_t counted_in() const noexcept { return counted_in_.load(memory_order::acquire); }
    [[nodiscard]] bool are_counted() const noexcept { return counted_in() != 0; }
    /// A block enters the profile: its free takes the slow path from now on. Requires  it is in use.
    void watch(const void* block) noexcept;
    /// It leaves the profile.
    void unwatch(const void* block) noexcept;

    [[nodiscard]] std::size_t segment_count() const noexcept;
    /// Bytes of heads, of slices in use, and of free slices that were touched.
    /// Cost      O(segments), with the lock.
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    /// The resident part of them.
    /// Cost      O(OS pages), with the lock.
    [[nodiscard]] std::size_t resident_bytes() const noexcept;
    [[nodiscard]] heap_memory& memory() const noexcept { return memory_; }
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    [[nodiscard]] heap_segment* add_segment() noexcept;
    [[nodiscard]] heap_segment* extend_a_segment() noexcept;
    void add_slices(heap_segment& segment, std::size_t begin, std::size_t end) const noexcept;
    [[nodiscard]] std::size_t head_slices() const noexcept {
        return heap_segment::head_slices(memory_.segment_bytes());
    }
    /// Number of slices for pages in the mapped part: without the head, and in checked builds without the last slices
    /// of a whole segment, which fault.
    [[nodiscard]] std::size_t page_slices(const heap_segment& segment) const noexcept {
        return segment.slice_count() - head_slices() - guard_slices(segment.slice_count());
    }
    /// A slice or an OS page, whichever is larger.
    [[nodiscard]] std::size_t guard_slices(std::size_t slice_count) const noexcept {
        return has_guards() && slice_count == max_slices ? slices_of_os_page() : 0;
    }
    /// Whether pages that fault lie behind each segment's head and at its end.
    [[nodiscard]] bool has_guards() const noexcept {
        return checks::caller && memory_.is_plentiful() && memory_.segment_bytes() == max_segment_bytes;
    }
    void may_extend_again() noexcept;
    void seal_guards(heap_segment& segment) const noexcept;
    [[nodiscard]] std::uint8_t number_of(const small_page& page) const noexcept;
    void set_numbers(heap_segment& segment, const small_page& page) const noexcept;
    enum class among : std::uint8_t { touched, all };
    [[nodiscard]] std::size_t allocate_slices(heap_segment& segment, std::size_t count, among which) const noexcept;
    [[nodiscard]] heap_segment* find_slices(std::size_t count, std::size_t& slice) noexcept;
    void sweep_free_slices(heap_segment& segment, std::size_t word, sweep_scope scope, sweep_result& result) noexcept;
    void sweep_pages(heap_segment& segment, std::size_t word, sweep_scope scope, sweep_result& result) noexcept;
    [[nodiscard]] bool release_if_idle(heap_segment& segment) noexcept;
    void map_segment(const heap_segment& segment, page_map& to) const noexcept;
    void list_free(heap_segment& segment) noexcept;
    void relist_free() noexcept;

    heap_memory& memory_;
    mutable platform::mutex mutex_; ///< guards everything below
    heap_segment* first_ = nullptr;
    heap_segment* first_free_[page_lengths]{}; ///< by the length of a page: see heap_segment
    std::size_t segment_count_ = 0;
    std::size_t releases_ = 0;            ///< of segments, ever
    std::size_t mapped_bytes_ = 0;        ///< of all segments
    freed_steps freed_;                   ///< pages that were released
    atomic<std::uint32_t> counted_in_{0}; // written under the lock; released, and acquired by threads that follow
    std::uint32_t profiles_ = 0;          ///< ever
};

}
