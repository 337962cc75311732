// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Slices of a segment and the OS pages that they lie in. Where an OS page is larger than a slice, only slices that
/// fill whole OS pages can be returned.

#include <cstddef>

#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Number of slices in an OS page; 1 where an OS page is at most as large as a slice.
[[nodiscard]] inline std::size_t slices_of_os_page() noexcept {
    const std::size_t os_page = platform::page_bytes();
    return os_page > slice_bytes ? os_page / slice_bytes : 1;
}

/// The slices of a word that share an OS page with one of these, with them.
[[nodiscard]] constexpr bit_word with_neighbours(bit_word slices, std::size_t page_slices) noexcept {
    bit_word found = 0;
    for (std::size_t at = 0; at < bits_per_word; at += page_slices) {
        const bit_word page = low_bits(page_slices) << at;
        if ((slices & page) != 0) found |= page;
    }
    return found;
}

/// The slices of a word whose OS page has no other slices.
[[nodiscard]] inline bit_word in_whole_os_pages(bit_word slices) noexcept {
    const std::size_t page_slices = slices_of_os_page();
    return page_slices == 1 ? slices : ~with_neighbours(~slices, page_slices);
}

/// The OS pages of a word that have one of these slices.
[[nodiscard]] inline bit_word os_pages_of(bit_word slices) noexcept {
    const std::size_t page_slices = slices_of_os_page();
    return page_slices == 1 ? slices : with_neighbours(slices, page_slices);
}

}
