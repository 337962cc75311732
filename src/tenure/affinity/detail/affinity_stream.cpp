// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_stream.hpp>

#include <algorithm>
#include <utility>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// Pages in which something was freed are searched before fresh ones are used, but at most this many per allocation. The
// free that listed a page pays for a search that finds no run of the size.
constexpr unsigned max_searched_pages = 4;

void free_run(affinity_pages& pages, affinity_run& run) noexcept {
    const affinity_run freed = std::exchange(run, {});
    if (freed.begin != freed.end) pages.free(freed);
}

}

// The order of the writes guarantees two things. While a gap is closed, or a run is joined with another, it is inside
// the other. While a new run begins, it has only one end. A half-written run is dropped.
void affinity_stream::repair() noexcept {
    const auto is_whole = [](affinity_run run) { return run.begin != nullptr && run.end != nullptr; };
    const auto is_inside = [](affinity_run run, affinity_run of) { return run.begin >= of.begin && run.end <= of.end; };
    const affinity_run newest = waiting_count_ == 0 ? affinity_run{} : waiting_[waiting_count_ - 1];
    if (!is_whole(freed_) || is_inside(freed_, newest)) freed_ = {};
    if (!is_whole(older_) || is_inside(older_, freed_) || is_inside(older_, newest)) older_ = {};
    if (freed_.begin == nullptr) freed_ = std::exchange(older_, {});
}

unsigned char* affinity_stream::allocate(affinity_pages& pages, affinity_request wanted) noexcept {
    if (!extent.has_room(wanted)) return nullptr;
    const affinity_bits& bits = pages.bits();
    const bool marks_starts = bits.marks_starts(index_);
    auto* const object = static_cast<unsigned char*>(pointer_at(align_up(address_of(extent.begin), wanted.alignment)));
    if (object != extent.begin) {
        pages.free({std::exchange(extent.begin, object), object});
        if (marks_starts) bits.mark_start(object);
    }
    extent.begin = object + wanted.bytes;
    if (marks_starts) bits.mark_end(extent.begin);
    return object;
}

bool affinity_stream::refill_from_own(affinity_pages& pages, affinity_request wanted) noexcept {
    if (reuse_freed(pages, wanted)) return true;
    flush(pages);
    free_run(pages, extent);
    if (next_run(pages, wanted)) return true;
    release_page(pages);
    return false;
}

bool affinity_stream::refill(affinity_pages& pages, affinity_request wanted, page_search search) noexcept {
    const affinity_bits& bits = pages.bits();
    const std::size_t granule = bits.granule_bytes();
    const std::size_t max_bytes = wanted.bytes + (wanted.alignment > granule ? wanted.alignment - granule : 0);
    for (unsigned searched = 0;; ++searched) {
        const bool has_looks = search == page_search::all || searched < max_searched_pages;
        affinity_page* page = has_looks ? pages.pop_partial(index_) : nullptr;
        if (page == nullptr && index_ == 0) page = pages.pop_measured(max_bytes);
        if (page == nullptr) break;
        set_page(*page);
        if (next_run(pages, wanted)) return true;
        release_page(pages);
    }
    const bool may_search = search == page_search::all && index_ == 0;
    if (affinity_page* const page = may_search ? pages.search_measured(wanted) : nullptr) {
        set_page(*page);
        return next_run(pages, wanted);
    }
    affinity_page* const fresh = pages.acquire(index_);
    if (fresh == nullptr) return false;
    set_page(*fresh);
    unsigned char* const begin = bits.begin_of(*fresh);
    set_extent(bits, {begin, begin + (std::size_t{fresh->capacity} << bits.granule_shift)});
    return true;
}

/// Makes the run that was freed last the extent: it is close, and in the CPU cache.
bool affinity_stream::reuse_freed(affinity_pages& pages, affinity_request wanted) noexcept {
    if (!freed_.has_room(wanted)) return false;
    flush_older(pages); // the bits that are read below include these
    const affinity_bits& bits = pages.bits();
    affinity_page& page = bits.page_of(freed_.begin);
    const bool is_ours = page.state != page_state::active || &page == page_;
    if (page.stream != index_ || freed_.end > bits.end_of(page) || !is_ours || !page.is_used()) return false;
    if (bits.is_any_free(freed_)) return false; // flush() reports the double free
    const affinity_run reused = std::exchange(freed_, {});
    free_run(pages, extent);
    if (&page != page_) {
        release_page(pages);
        pages.activate(page);
        set_page(page);
    }
    set_extent(bits, reused);
    return true;
}

/// Makes the next large enough run of the stream's page its extent.
bool affinity_stream::next_run(affinity_pages& pages, affinity_request wanted) noexcept {
    if (page_ == nullptr || page_->free_granules == 0) return false;
    const affinity_bits& bits = pages.bits();
    affinity_run found;
    bits.for_each_run(*page_, scanned_, [&](affinity_run run) {
        if (run.has_room(wanted)) {
            found = run;
            return false;
        }
        const auto granules = static_cast<std::uint16_t>(run.bytes() >> bits.granule_shift);
        skipped_ = static_cast<std::uint16_t>(skipped_ + granules);
        largest_skipped_ = std::max(largest_skipped_, granules);
        return true;
    });
    if (found.begin == nullptr) {
        scanned_ = static_cast<std::uint16_t>(affinity_page_bytes >> bits.granule_shift);
        return false;
    }
    set_extent(bits, found);
    bits.clear_free(found);
    page_->free_granules = static_cast<std::uint16_t>(page_->free_granules - (found.bytes() >> bits.granule_shift));
    scanned_ = static_cast<std::uint16_t>(bits.granule_in_page(found.end - 1) + 1);
    return true;
}

void affinity_stream::set_page(affinity_page& page) noexcept {
    page_ = &page;
    scanned_ = skipped_ = largest_skipped_ = 0;
}

void affinity_stream::set_extent(const affinity_bits& bits, affinity_run run) noexcept {
    extent = run;
    bits.start_extent(run);
}

void affinity_stream::flush_older(affinity_pages& pages) noexcept {
    free_run(pages, older_);
    while (waiting_count_ != 0) free_run(pages, waiting_[--waiting_count_]);
}

void affinity_stream::flush(affinity_pages& pages) noexcept {
    flush_older(pages);
    free_run(pages, freed_);
}

void affinity_stream::end_extent(affinity_pages& pages) noexcept {
    scanned_ = static_cast<std::uint16_t>(pages.bits().granule_in_page(extent.begin - 1));
    free_run(pages, extent);
}

void affinity_stream::release_page(affinity_pages& pages) noexcept {
    if (page_ != nullptr) pages.release(*std::exchange(page_, nullptr), skipped_, largest_skipped_);
}

void affinity_stream::release(affinity_pages& pages) noexcept {
    flush(pages);
    free_run(pages, extent);
    release_page(pages);
}

}
