// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_pages.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

#include <tenure/base/linked_list.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// The class of a run: the binary logarithm of its granules, rounded down.
[[nodiscard]] std::size_t class_of_run(std::size_t granules) noexcept {
    return static_cast<std::size_t>(std::bit_width(granules | 1)) - 1;
}

}

affinity_page*& affinity_pages::list_of(const affinity_page& page) noexcept {
    return page.state == page_state::partial ? partial_[page.stream] : measured_[class_of_run(page.largest)];
}

void affinity_pages::list(affinity_page& page, page_state state) noexcept {
    page.state = state;
    push_front(list_of(page), page);
    if (state == page_state::measured) measured_classes_ |= std::uint32_t{1} << class_of_run(page.largest);
}

/// Removes a page from its list, if it is in one.
void affinity_pages::unlist(affinity_page& page) noexcept {
    if (page.state != page_state::partial && page.state != page_state::measured) return;
    affinity_page*& first = list_of(page);
    unlink(first, page);
    if (page.state == page_state::measured && first == nullptr)
        measured_classes_ &= ~(std::uint32_t{1} << class_of_run(page.largest));
}

void affinity_pages::note_freed_twice(const void* object) noexcept {
    misuse_.add("an object of an affinity group was freed twice, or with another size", object,
                checks::caller ? "Look for a second owner, and for a free with another size than the allocation's."
                               : "Look for a second owner, or for a second thread in a group of one thread; the "
                                 "library built with checks reports the second free itself.");
}

void affinity_pages::free(affinity_run run) noexcept {
    while (run.begin != run.end) {
        affinity_page& page = bits_.page_of(run.begin);
        const affinity_run part{run.begin, std::min(run.end, bits_.end_of(page))};
        const std::size_t count = part.bytes() >> bits_.granule_shift;
        const std::size_t twice = page.is_used() ? bits_.set_free(part) : count;
        run.begin = part.end;
        page.free_granules = static_cast<std::uint16_t>(page.free_granules + count - twice);
        if (page.is_used() && page.state != page_state::active) {
            if (page.free_granules == page.capacity) {
                unlist(page);
                blocks_.release_page(page);
            } else if (page.state != page_state::partial) {
                unlist(page);
                list(page, page_state::partial);
            }
        }
        if (twice != 0) [[unlikely]] {
            ++freed_twice_count_;
            note_freed_twice(part.begin);
        }
    }
}

affinity_page* affinity_pages::acquire(std::size_t stream) noexcept {
    affinity_page* const page = blocks_.acquire_page(stream);
    if (page == nullptr) return nullptr;
    const std::size_t granules = bits_.bytes_of(*page) >> bits_.granule_shift;
    const std::size_t partial_object = stream == 0 ? 0 : granules % bits_.granules_per_object(stream);
    page->stream = static_cast<std::uint8_t>(stream);
    page->capacity = static_cast<std::uint16_t>(granules - partial_object);
    page->state = page_state::active;
    return page;
}

void affinity_pages::activate(affinity_page& page) noexcept {
    unlist(page);
    page.state = page_state::active;
}

affinity_page* affinity_pages::pop_partial(std::size_t stream) noexcept {
    affinity_page* const page = partial_[stream];
    if (page != nullptr) activate(*page);
    return page;
}

affinity_page* affinity_pages::pop_measured(std::size_t bytes) noexcept {
    // The first class in which every run has the size.
    const std::size_t first = static_cast<std::size_t>(std::bit_width((bytes >> bits_.granule_shift) - 1));
    const std::uint32_t fitting = measured_classes_ & ~static_cast<std::uint32_t>(low_bits(first));
    if (fitting == 0) return nullptr;
    affinity_page* const page = measured_[lowest_bit(fitting)];
    activate(*page);
    return page;
}

affinity_page* affinity_pages::search_measured(affinity_request wanted) noexcept {
    for (std::size_t index = class_of_run(wanted.bytes >> bits_.granule_shift); index < run_classes; ++index) {
        for (affinity_page* page = measured_[index]; page != nullptr; page = page->next) {
            bool has_room = false;
            bits_.for_each_run(*page, 0, [&](affinity_run run) {
                has_room = run.has_room(wanted);
                return !has_room;
            });
            if (!has_room) continue;
            activate(*page);
            return page;
        }
    }
    return nullptr;
}

void affinity_pages::release(affinity_page& page, std::size_t skipped, std::size_t largest) noexcept {
    if (page.free_granules == page.capacity) return blocks_.release_page(page);
    page.state = page_state::full;
    if (page.free_granules == 0) return;
    if (skipped != page.free_granules) return list(page, page_state::partial);
    // Every free run was too small, but the next request may be smaller, unless all are of one size.
    if (page.stream != 0) return;
    page.largest = static_cast<std::uint16_t>(largest);
    list(page, page_state::measured);
}

void affinity_pages::clear() noexcept {
    std::fill(std::begin(partial_), std::end(partial_), nullptr);
    std::fill(std::begin(measured_), std::end(measured_), nullptr);
    measured_classes_ = 0;
    freed_twice_count_ = 0;
    blocks_.clear();
}

bool affinity_pages::valid(const affinity_census& found) const noexcept {
    std::size_t listed = 0;
    for (const affinity_page* first : partial_)
        if (!is_valid_list(first, page_state::partial, listed)) return false;
    for (std::size_t index = 0; index < run_classes; ++index) {
        const bool is_noted = (measured_classes_ >> index & 1) != 0;
        if (is_noted != (measured_[index] != nullptr) || !is_valid_list(measured_[index], page_state::measured, listed))
            return false;
    }
    return listed == found.listed_pages;
}

}
