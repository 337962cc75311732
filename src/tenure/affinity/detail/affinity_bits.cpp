// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_bits.hpp>

#include <algorithm>
#include <cstring>

namespace tenure::inline TENURE_ABI::detail {

void affinity_bits::clear(affinity_page& page) const noexcept {
    affinity_block* const block = block_of(&page);
    const std::size_t first = first_word_of(page), bytes = words_per_page * sizeof(bit_word);
    if (page.free_granules != 0) std::memset(free_bits(block) + first, 0, bytes);
    if (marks_starts(page.stream)) std::memset(start_bits(block) + first, 0, bytes);
    page.free_granules = 0;
}

std::size_t affinity_bits::largest_run_bytes(const affinity_page& page) const noexcept {
    std::size_t largest = 0;
    for_each_run(page, 0, [&](affinity_run run) {
        largest = std::max(largest, run.bytes());
        return true;
    });
    return largest;
}

std::size_t affinity_bits::object_bytes(const void* object) const noexcept {
    const affinity_page& page = page_of(object);
    if (page.stream != 0) return std::size_t{page.stream} << stream_shift;
    if (!has_starts) return 0;
    affinity_block* const block = block_of(object);
    const bit_word* const starts = start_bits(block);
    const bit_word* const free = free_bits(block);
    const std::size_t first = granule_of(object);
    const std::size_t end = granule_of(end_of(page) - 1) + 1;
    std::size_t granule = first + 1;
    while (granule < end) {
        const std::size_t word = granule / bits_per_word;
        const bit_word is_free = load(free[word]); // before the start bits: see load()
        const bit_word bits = (load(starts[word]) | is_free) >> (granule % bits_per_word);
        if (bits != 0) {
            granule += lowest_bit(bits);
            break;
        }
        granule = (word + 1) * bits_per_word;
    }
    return (std::min(granule, end) - first) << granule_shift;
}

std::size_t affinity_bits::count_objects(const affinity_page& page) const noexcept {
    if (!page.is_used()) return 0;
    if (page.stream != 0)
        return std::size_t{page.capacity - unsigned{page.free_granules}} / granules_per_object(page.stream);
    if (!has_starts) return 0;
    const bit_word* const free = free_bits(block_of(&page)) + first_word_of(page);
    const bit_word* const starts = start_bits(block_of(&page)) + first_word_of(page);
    std::size_t count = 0;
    for (std::size_t word = 0; word < words_per_page; ++word) count += count_bits(starts[word] & ~free[word]);
    return count;
}

bool affinity_bits::valid(const affinity_page& page) const noexcept {
    const bit_word* const free = free_bits(block_of(&page)) + first_word_of(page);
    std::size_t free_count = 0;
    for (std::size_t word = 0; word < words_per_page; ++word) free_count += count_bits(free[word]);
    if (free_count != page.free_granules) return false;
    if (!page.is_used()) return free_count == 0;
    return free_count < page.capacity &&
           (page.stream == 0 || (page.capacity - free_count) % granules_per_object(page.stream) == 0);
}

}
