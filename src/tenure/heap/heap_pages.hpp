// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the pages of one heap come from and go back to. Private to this room.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/heap/heap_memory.hpp>
#include <tenure/heap/heap_segment.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; a lock per call, which is once per page.
class heap_pages {
public:
    constexpr explicit heap_pages(heap_memory& memory) noexcept : memory_(memory) {}
    ~heap_pages() { release_all(); }
    heap_pages(const heap_pages&) = delete;
    heap_pages& operator=(const heap_pages&) = delete;

    /// A page of the class, with no owner and nothing handed out, whose slices say `number`: the class, or
    /// tagged_class. Null when the source refuses.
    [[nodiscard]] small_page* allocate(std::size_t class_index, std::uint8_t number) noexcept;
    /// Requires  no block of the page is handed out.
    void deallocate(small_page& page) noexcept;

    /// Gives empty segments and the memory of free slices back. Returns   the bytes given back.
    std::size_t trim() noexcept;
    /// Gives back the free slices that the last call found free and touched already.
    std::size_t sweep() noexcept;
    /// Gives every segment back, whatever is in it.
    void release_all() noexcept;

    /// Calls `visit(context, page)` for every page. Requires  no other thread takes or gives pages meanwhile.
    void for_each_page(void (*visit)(void* context, small_page&), void* context) const noexcept;

    [[nodiscard]] std::size_t segment_count() const noexcept;
    /// Bytes of heads, of what is in use, and of what is free and was touched. Cost      O(segments), with the lock.
    [[nodiscard]] std::size_t committed_bytes() const noexcept;
    /// What of it is in memory now. Cost      O(pages of the system), with the lock.
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
    mutable platform::mutex mutex_; ///< of everything below
    heap_segment* first_ = nullptr;
    heap_segment* first_free_ = nullptr;
    std::size_t segment_count_ = 0;
};

}
