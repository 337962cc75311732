// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Allocates and frees the pages of one heap.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/heap_segment.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; one lock per call, which is one per page.
class heap_pages {
public:
    constexpr explicit heap_pages(heap_memory& memory) noexcept : memory_(memory) {}
    ~heap_pages() { release_all(); }
    heap_pages(const heap_pages&) = delete;
    heap_pages& operator=(const heap_pages&) = delete;

    /// Allocates a page of the class, without an owner and with no block in use. `number` is stored for its slices: the
    /// class, or tagged_class.
    /// Returns   nullptr when the source fails.
    [[nodiscard]] small_page* allocate(std::size_t class_index, std::uint8_t number) noexcept;
    /// Requires  no block of the page is in use or cached.
    void deallocate(small_page& page) noexcept;

    /// Returns empty segments and the memory of free slices.
    /// Returns   the number of bytes returned.
    std::size_t trim() noexcept;
    /// Decommits the slices that were already free and touched at the previous sweep.
    std::size_t sweep() noexcept;
    /// Releases every segment, including those in use.
    void release_all() noexcept;

    /// Calls `visit(context, page)` for every page.
    /// Requires  no other thread allocates or frees pages meanwhile.
    void for_each_page(void (*visit)(void* context, small_page&), void* context) const noexcept;

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
    [[nodiscard]] heap_segment* add_segment() noexcept;
    [[nodiscard]] std::size_t slice_count() const noexcept { return memory_.segment_bytes() / slice_bytes; }
    [[nodiscard]] std::size_t head_slices() const noexcept {
        return heap_segment::head_slices(memory_.segment_bytes());
    }
    enum class among : std::uint8_t { touched, all };
    [[nodiscard]] std::size_t allocate_slices(heap_segment& segment, std::size_t count, among which) const noexcept;
    void list_free(heap_segment& segment) noexcept;
    void relist_free() noexcept;

    heap_memory& memory_;
    mutable platform::mutex mutex_; ///< guards everything below
    heap_segment* first_ = nullptr;
    heap_segment* first_free_ = nullptr;
    std::size_t segment_count_ = 0;
};

}
