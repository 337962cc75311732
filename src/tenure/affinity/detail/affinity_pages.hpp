// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pages of an affinity group that have free memory, in lists where the streams of all threads find them.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/affinity/detail/affinity_blocks.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A page is in one of two kinds of lists: partial pages, in which something was freed, by their stream; measured pages
/// of mixed sizes, whose runs were all too small for some request, by their largest run.
///
/// Threads   one at a time: the group's lock protects them.
class affinity_pages {
public:
    affinity_pages(const affinity_bits& bits, affinity_blocks& blocks, misuse_log& misuse) noexcept
        : bits_(bits), blocks_(blocks), misuse_(misuse) {}
    affinity_pages(const affinity_pages&) = delete;
    affinity_pages& operator=(const affinity_pages&) = delete;

    /// Exchanges the pages of two groups, whose bits and blocks are exchanged too.
    void exchange(affinity_pages& other) noexcept {
        std::swap(partial_, other.partial_);
        std::swap(measured_, other.measured_);
        std::swap(measured_classes_, other.measured_classes_);
        std::swap(freed_twice_count_, other.freed_twice_count_);
    }

    /// Frees a run, which may reach across pages, and lists its pages anew. Records a double free as misuse.
    void free(affinity_run run) noexcept;
    void note_freed_twice(const void* object) noexcept;

    /// An active page without objects for a stream.
    /// Returns   nullptr when the source fails.
    [[nodiscard]] affinity_page* acquire(std::size_t stream) noexcept;
    /// These return a page and make it active; nullptr when there is none.
    /// A page that may have a run for an object.
    [[nodiscard]] affinity_page* pop_partial(std::size_t stream) noexcept;
    /// A page of mixed sizes that has a run of these bytes.
    [[nodiscard]] affinity_page* pop_measured(std::size_t bytes) noexcept;
    /// The same, at an alignment, among all measured pages that may have such a run.
    /// Cost      O(measured pages), including their bits.
    [[nodiscard]] affinity_page* search_measured(affinity_request wanted) noexcept;
    /// Makes a used page active that is not.
    void activate(affinity_page& page) noexcept;
    /// Lists a page that was active. `skipped` is the number of free granules in runs that were too small, and
    /// `largest` the number in the largest of them.
    void release(affinity_page& page, std::size_t skipped, std::size_t largest) noexcept;

    /// Forgets every page.
    void clear() noexcept;
    /// The number of runs that were freed twice: usually each was one object, which was subtracted at both frees.
    [[nodiscard]] std::size_t freed_twice_count() const noexcept { return freed_twice_count_; }
    /// Requires  `found` counts the pages of all blocks.
    [[nodiscard]] bool valid(const affinity_census& found) const noexcept;

    [[nodiscard]] const affinity_bits& bits() const noexcept { return bits_; }

private:
    static constexpr std::size_t run_classes = 15; // by binary logarithm of a run's granules

    [[nodiscard]] affinity_page*& list_of(const affinity_page& page) noexcept;
    void list(affinity_page& page, page_state state) noexcept;
    void unlist(affinity_page& page) noexcept;

    const affinity_bits& bits_;
    affinity_blocks& blocks_;
    misuse_log& misuse_;
    affinity_page* partial_[affinity_stream_count] = {};
    affinity_page* measured_[run_classes] = {};
    std::uint32_t measured_classes_ = 0; ///< bit set of the lists that have pages
    std::size_t freed_twice_count_ = 0;
};

}
