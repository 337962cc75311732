// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Frees in checked builds, and the consistency check of a group.

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/affinity/detail/affinity_map.hpp>
#include <tenure/base/check.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

using detail::page_place;

/// Cost      O(1): reads the bits and the records of the page and the block.
void affinity_group::deallocate_checked(void* object, std::size_t bytes) noexcept {
    constexpr std::string_view advice =
        "Free each object once, to its own group, with the size that it was allocated with.";
    if (detail::affinity_owners.get(object) != this) {
        note_misuse("a pointer that does not belong to the group was freed to an affinity group", object, advice);
        return;
    }
    block* const in = layout_.block_of(object);
    page& home = layout_.page_of(object);
    if (!is_block(*in) || home.free_granules > home.capacity) {
        note_misuse("the bookkeeping of a group's block was overwritten", in,
                    "Look for a write before the start of an object, or past the end of one in the preceding block.");
        return;
    }
    const std::size_t granule = layout_.granule_of(object);
    const bool is_behind_front = object >= layout_.begin_of(home) && is_aligned(object, layout_.granule_bytes());
    const bool is_used = home.place != page_place::untouched && home.place != page_place::empty;
    const bool is_free = !is_used || (layout_.free_bits(in)[granule / bits_per_word] & bit_at(granule)) != 0;
    if (is_behind_front && is_free) {
        note_misuse("an object of an affinity group was freed twice, or never allocated", object,
                    "Look for a second owner of this object.");
        return;
    }
    if (!is_behind_front || (layout_.start_bits(in)[granule / bits_per_word] & bit_at(granule)) == 0) {
        note_misuse("a pointer that is not the start of an object was freed to an affinity group", object, advice);
        return;
    }
    const std::size_t taken = bytes_of(object);
    const bool is_known = bytes != unknown_bytes;
    if (!is_known && options_.sizes == size_on_free::required) {
        note_misuse("an object of a group with size_on_free::required was freed without its size", object,
                    "Pass the size at every free, or create the group with size_on_free::optional.");
        return;
    }
    if (is_known && rounded(bytes) != taken) {
        note_misuse("an object was freed with another size than it was allocated with", object, advice);
        return;
    }
    own_.count(-1);
    platform::poison_freed(object, taken);
    layout_.start_bits(in)[granule / bits_per_word] &= ~bit_at(granule);
    auto* const begin = static_cast<unsigned char*>(object);
    free_run(begin, begin + taken);
}

/// Requires  no part of the page is in an extent or in a freed run.
bool affinity_group::is_valid_page(const page& which, std::size_t& live_count) const noexcept {
    block* const in = layout_.block_of(&which);
    const bit_word* const free = layout_.free_bits(in) + layout_.index_of(which) * layout_.words_per_page;
    const bit_word* const starts = layout_.start_bits(in) + layout_.index_of(which) * layout_.words_per_page;
    const bool is_used = which.place != page_place::empty && which.place != page_place::untouched;
    std::size_t free_count = 0;
    for (std::size_t word = 0; word < layout_.words_per_page; ++word) {
        free_count += count_bits(free[word]);
        if (has_starts_ && which.stream == 0) live_count += count_bits(starts[word] & ~free[word]);
    }
    if (free_count != which.free_granules) return false;
    if (!is_used) return free_count == 0;
    if (which.stream != 0) {
        const std::size_t stride = std::max<std::size_t>(which.stream * std::size_t{8} >> layout_.granule_shift, 1);
        if ((which.capacity - free_count) % stride != 0) return false;
        live_count += (which.capacity - free_count) / stride;
    }
    return free_count < which.capacity && which.place != page_place::taken;
}

bool affinity_group::valid() noexcept {
    if (const heap* const large = large_.load(std::memory_order_acquire); large != nullptr && !large->valid())
        return false;
    settle_all();
    std::size_t counted = 0, blocks = 0, used = 0, empty_blocks = 0, listed = 0, in_lists = 0;
    bool all_known = true;
    for (block* each = blocks_; each != nullptr; each = each->next, ++blocks) {
        std::size_t empty_pages = 0;
        if (!is_block(*each) || (each->next == nullptr) != (each == last_)) return false;
        for (std::size_t index = 0; index < each->touched_pages; ++index) {
            const page& which = each->pages[layout_.first_page() + index];
            if (!is_valid_page(which, counted)) return false;
            all_known = all_known && (has_starts_ || which.stream != 0 || which.place == page_place::empty);
            empty_pages += std::size_t{which.place == page_place::empty};
            listed += std::size_t{which.place != page_place::full};
        }
        if (empty_pages != each->empty_pages) return false;
        empty_blocks += std::size_t{empty_pages == each->touched_pages};
        used += each->touched_pages - empty_pages;
    }
    const auto count_list = [&](const page* first, page_place place) {
        const page* before = nullptr;
        for (; first != nullptr; before = first, first = first->next, ++in_lists) {
            if (first->place != place || first->previous != before) return false;
        }
        return true;
    };
    for (const page* first : partial_)
        if (!count_list(first, page_place::partial)) return false;
    for (std::size_t index = 0; index < run_classes; ++index) {
        const bool is_noted = (filed_classes_ >> index & 1) != 0;
        if (is_noted != (filed_[index] != nullptr) || !count_list(filed_[index], page_place::filed)) return false;
    }
    if (!count_list(empty_, page_place::empty)) return false;
    const std::size_t sum = size();
    const std::size_t elsewhere = functions_.allocate != nullptr || is_passthrough_ ? size() : large_count();
    const std::size_t found = counted + elsewhere;
    const bool is_counted = (found > sum ? found - sum : sum - found) <= uncertain_objects_;
    return blocks == block_count_ && used == used_pages_ && empty_blocks == empty_block_count_ && in_lists == listed &&
           (!all_known || is_counted);
}

}
