// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the pages of one heap come from and go back to. Private to this room.

#include <cstddef>
#include <mutex>

#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/heap_segment.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; a lock per call, which is once per page.
class heap_pages {
public:
    constexpr explicit heap_pages(block_source& source) noexcept : source_(source) {}
    ~heap_pages();
    heap_pages(const heap_pages&) = delete;
    heap_pages& operator=(const heap_pages&) = delete;

    /// A page of the class, with no owner and nothing handed out. Null when the source refuses.
    [[nodiscard]] small_page* take(std::size_t class_index) noexcept;
    /// Requires  no block of the page is handed out.
    void give(small_page& page) noexcept;

    /// Gives empty segments and the memory of free slices back. Returns   the bytes given back.
    std::size_t trim() noexcept;

    [[nodiscard]] std::size_t segment_count() const noexcept;
    /// Whether the pointer is inside a segment of this heap. Cost      O(segments), with a lock.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

private:
    [[nodiscard]] heap_segment* add_segment() noexcept;

    block_source& source_;
    mutable std::mutex mutex_; ///< of everything below
    heap_segment* first_ = nullptr;
    std::size_t segment_count_ = 0;
};

}
