// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The source of a group's extents: runs of free granules, found through the bits of pages that are listed by their
/// free memory. Every function here runs under the lock of a shared group.

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include <tenure/affinity/affinity_group.hpp>
#include <tenure/affinity/detail/affinity_map.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

using detail::affinity_block;
using detail::affinity_page;
using detail::affinity_page_bytes;
using detail::freed_twice;
using detail::freed_twice_advice;
using detail::page_place;

namespace detail {
constinit platform::address_map affinity_owners{};
}

namespace {

constexpr std::uint64_t block_canary = 0xAFF1'2E0D'B10C'4A5E;

// Pages in which something was freed are searched before fresh ones are used, but at most this many per allocation. The
// free that listed a page pays for a search that finds no run of the size.
constexpr unsigned max_looks = 4;

void clear_bits(bit_word* words, std::size_t first, std::size_t count) noexcept {
    for_each_word_of(first, count,
                     [&](std::size_t word, bit_word bits) { detail::store_bits(words[word], words[word] & ~bits); });
}

/// The first granule from `from` on, before `end`, whose bit equals `wanted`; `end` if there is none.
std::size_t find_bit(const bit_word* words, std::size_t from, std::size_t end, bool wanted) noexcept {
    const bit_word flip = wanted ? 0 : ~bit_word{0};
    while (from < end) {
        const bit_word bits = (words[from / bits_per_word] ^ flip) >> (from % bits_per_word);
        if (bits != 0) return std::min(from + lowest_bit(bits), end);
        from = (from / bits_per_word + 1) * bits_per_word;
    }
    return end;
}

/// Bytes from an address to the next multiple of an alignment.
[[nodiscard]] std::size_t gap_before(std::uintptr_t begin, std::size_t alignment) noexcept {
    return (0 - begin) & (alignment - 1);
}

[[nodiscard]] std::size_t bytes_in(const detail::affinity_layout& layout, const affinity_page& which) noexcept {
    return layout.granules_in(which) << layout.granule_shift;
}

/// The class of a run: the binary logarithm of its granules, rounded down.
[[nodiscard]] std::size_t class_of_run(std::size_t granules) noexcept { return std::bit_width(granules | 1) - 1; }

}

std::uint16_t affinity_group::granule_in_page(const void* inside) const noexcept {
    return static_cast<std::uint16_t>((address_of(inside) & (affinity_page_bytes - 1)) >> layout_.granule_shift);
}

// Lists.

void affinity_group::list(page& which, page*& first, page_place place) noexcept {
    which.place = place;
    detail::push_front(first, which);
}

affinity_page*& affinity_group::list_of(const page& which) noexcept {
    if (which.place == page_place::partial) return partial_[which.stream];
    if (which.place == page_place::filed) return filed_[class_of_run(which.largest)];
    return empty_;
}

/// Removes a page from its list, if it is in one.
void affinity_group::unlist(page& which) noexcept {
    const bool is_listed =
        which.place == page_place::partial || which.place == page_place::filed || which.place == page_place::empty;
    if (!is_listed) return;
    page*& first = list_of(which);
    detail::unlink(first, which);
    if (which.place == page_place::filed && first == nullptr)
        filed_classes_ &= ~(std::uint32_t{1} << class_of_run(which.largest));
}

// Blocks.

bool affinity_group::add_block() noexcept {
    void* const memory = source_.acquire(layout_.block_bytes, layout_.block_bytes);
    if (memory == nullptr) return false;
    if (!is_aligned(memory, layout_.block_bytes)) [[unlikely]] {
        if constexpr (checks::caller) note_misuse(detail::ignored_alignment, memory, detail::ignored_alignment_advice);
        source_.release(memory, layout_.block_bytes);
        return false;
    }
    for (std::size_t offset = 0; offset < layout_.block_bytes; offset += affinity_page_bytes) {
        if (detail::affinity_owners.set(static_cast<unsigned char*>(memory) + offset, this)) continue;
        while (offset != 0) {
            offset -= affinity_page_bytes;
            detail::affinity_owners.erase(static_cast<unsigned char*>(memory) + offset);
        }
        source_.release(memory, layout_.block_bytes);
        return false;
    }
    if (!source_.is_zeroed()) std::memset(memory, 0, layout_.front_bytes);
    auto* const fresh = new (memory) affinity_block;
    fresh->next = nullptr;
    fresh->previous = last_;
    fresh->canary = block_canary ^ address_of(this);
    fresh->touched_pages = fresh->empty_pages = 0;
    (last_ != nullptr ? last_->next : blocks_) = fresh;
    last_ = newest_ = fresh;
    ++block_count_;
    ++empty_block_count_;
    platform::add_leak_root(memory, layout_.block_bytes);
    return true;
}

void affinity_group::release_block(block* which) noexcept {
    if (which == newest_) newest_ = which->next;
    (which->previous != nullptr ? which->previous->next : blocks_) = which->next;
    (which->next != nullptr ? which->next->previous : last_) = which->previous;
    --block_count_;
    if (which->empty_pages == which->touched_pages) --empty_block_count_;
    if constexpr (checks::caller) platform::unpoison(static_cast<void*>(which), layout_.block_bytes);
    for (std::size_t offset = 0; offset < layout_.block_bytes; offset += affinity_page_bytes)
        detail::affinity_owners.erase(reinterpret_cast<unsigned char*>(which) + offset);
    platform::remove_leak_root(which, layout_.block_bytes);
    source_.release(which, layout_.block_bytes);
}

void affinity_group::unlist_pages(block& which) noexcept {
    for (std::size_t index = 0; index < which.touched_pages; ++index) unlist(which.pages[layout_.first_page() + index]);
}

bool affinity_group::is_block(const block& which) const noexcept {
    return which.canary == (block_canary ^ address_of(this)) && which.empty_pages <= which.touched_pages &&
           which.touched_pages <= layout_.usable_pages();
}

void affinity_group::empty_bits(page& which) noexcept {
    affinity_block* const in = layout_.block_of(&which);
    const std::size_t first = layout_.index_of(which) * layout_.words_per_page;
    if (which.free_granules != 0)
        std::memset(layout_.free_bits(in) + first, 0, layout_.words_per_page * sizeof(bit_word));
    if (is_marked(which)) std::memset(layout_.start_bits(in) + first, 0, layout_.words_per_page * sizeof(bit_word));
    which.free_granules = 0;
}

/// Requires  the whole page is free, and the page is in no list.
void affinity_group::make_empty(page& which) noexcept {
    affinity_block* const in = layout_.block_of(&which);
    empty_bits(which);
    list(which, empty_, page_place::empty);
    --used_pages_;
    if (++in->empty_pages != in->touched_pages) return;
    ++empty_block_count_;
    if (empty_block_count_ > options_.max_retained_bytes / layout_.block_bytes) {
        unlist_pages(*in);
        release_block(in);
    }
}

/// Resets a block to its state after add_block(), without releasing it.
void affinity_group::forget_block(block& which) noexcept {
    for (std::size_t index = 0; index < which.touched_pages; ++index) {
        page& each = which.pages[layout_.first_page() + index];
        if (each.place != page_place::empty) {
            empty_bits(each);
            if constexpr (checks::caller) {
                platform::unpoison(layout_.begin_of(each), bytes_in(layout_, each));
                platform::poison_freed(layout_.begin_of(each), bytes_in(layout_, each));
            }
        }
        each.place = page_place::untouched;
    }
    which.touched_pages = which.empty_pages = 0;
}

std::size_t affinity_group::trim() noexcept {
    heap* const large = large_.load(std::memory_order_acquire);
    std::size_t given = large != nullptr ? large->trim() : 0;
    const std::size_t blocks_before = block_count_;
    settle_all();
    for (block* each = blocks_; each != nullptr;) {
        block* const next = each->next;
        if (each->empty_pages == each->touched_pages) {
            unlist_pages(*each);
            release_block(each);
        }
        each = next;
    }
    given += (blocks_before - block_count_) * layout_.block_bytes;
    for (page* each = empty_; each != nullptr; each = each->next) {
        if (each->capacity == 0) continue; // already returned
        if (!source_.decommit(layout_.begin_of(*each), bytes_in(layout_, *each))) break;
        given += bytes_in(layout_, *each);
        each->capacity = 0;
    }
    return given;
}

// Pages.

/// A page without objects; nullptr when the source fails.
affinity_page* affinity_group::fresh_page() noexcept {
    page* fresh = empty_;
    if (fresh != nullptr) {
        affinity_block* const in = layout_.block_of(fresh);
        unlist(*fresh);
        if (in->empty_pages-- == in->touched_pages) --empty_block_count_;
    } else {
        while (newest_ != nullptr && newest_->touched_pages == layout_.usable_pages()) newest_ = newest_->next;
        if (newest_ == nullptr && !add_block()) return nullptr;
        if (newest_->empty_pages == newest_->touched_pages) --empty_block_count_;
        fresh = &newest_->pages[layout_.first_page() + newest_->touched_pages++];
        fresh->free_granules = 0;
        if constexpr (checks::caller) platform::poison(layout_.begin_of(*fresh), bytes_in(layout_, *fresh));
    }
    peak_pages_ = std::max(peak_pages_, ++used_pages_);
    return fresh;
}

void affinity_group::open_fresh_page(thread_part& mine, std::size_t stream_index, page& fresh) noexcept {
    const std::size_t stride = std::max<std::size_t>(stream_index * 8 >> layout_.granule_shift, 1);
    fresh.stream = static_cast<std::uint8_t>(stream_index);
    fresh.capacity = static_cast<std::uint16_t>(layout_.granules_in(fresh) / stride * stride);
    open_page(mine, stream_index, fresh);
    unsigned char* const begin = layout_.begin_of(fresh);
    open_extent(mine.streams[stream_index], begin, begin + (std::size_t{fresh.capacity} << layout_.granule_shift));
}

/// Makes a page the source of the stream's extents.
/// Requires  the page is in no list.
void affinity_group::open_page(thread_part& mine, std::size_t stream_index, page& which) noexcept {
    which.place = page_place::taken;
    mine.taken[stream_index] = &which;
    mine.scanned[stream_index] = mine.largest_skipped[stream_index] = mine.skipped[stream_index] = 0;
}

void affinity_group::open_extent(stream& at, unsigned char* begin, unsigned char* end) noexcept {
    at.next = begin;
    at.end = end;
    if (!is_marked(layout_.page_of(begin))) return;
    // The start of an extent is the end of the object before it. The starts of objects that were there are cleared.
    mark_start(begin);
    const std::size_t first = layout_.granule_of(begin) + 1;
    const std::size_t granules = static_cast<std::size_t>(end - begin) >> layout_.granule_shift;
    clear_bits(layout_.start_bits(layout_.block_of(begin)), first, granules - 1);
}

/// Frees the rest of an extent.
void affinity_group::abandon_extent(stream& at) noexcept {
    unsigned char* const begin = at.next;
    unsigned char* const end = at.end;
    at.next = at.end = nullptr;
    if (begin != end) free_run(begin, end);
}

/// Moves the page that a stream used to a list where other streams find it.
void affinity_group::leave(thread_part& mine, std::size_t stream_index) noexcept {
    page* const left = mine.taken[stream_index];
    if (left == nullptr) return;
    mine.taken[stream_index] = nullptr;
    if (left->free_granules == left->capacity) return make_empty(*left);
    left->place = page_place::full;
    // Every free run was searched and was too small, but the next request may be smaller.
    const bool is_known = mine.skipped[stream_index] == left->free_granules;
    if (left->free_granules == 0) return;
    if (is_known && stream_index != 0) return;
    if (!is_known) return list(*left, partial_[stream_index], page_place::partial);
    left->largest = mine.largest_skipped[stream_index];
    list(*left, filed_[class_of_run(left->largest)], page_place::filed);
    filed_classes_ |= std::uint32_t{1} << class_of_run(left->largest);
}

/// Updates a page's list after a free in it.
void affinity_group::settle(page& which) noexcept {
    if (which.place == page_place::taken) return;
    if (which.free_granules == which.capacity) {
        unlist(which);
        return make_empty(which);
    }
    if (which.place == page_place::partial) return;
    unlist(which);
    list(which, partial_[which.stream], page_place::partial);
}

/// Sets the free bits of a run.
void affinity_group::free_run(unsigned char* begin, unsigned char* end) noexcept {
    while (begin != end) {
        page& home = layout_.page_of(begin);
        unsigned char* const stop = std::min(end, layout_.end_of(home));
        const auto count = static_cast<std::size_t>(stop - begin) >> layout_.granule_shift;
        bit_word* const bits = layout_.free_bits(layout_.block_of(begin));
        const bool is_used = home.place != page_place::empty && home.place != page_place::untouched;
        std::size_t twice = is_used ? 0 : count;
        if (is_used) {
            for_each_word_of(layout_.granule_of(begin), count, [&](std::size_t word, bit_word mask) {
                twice += count_bits(bits[word] & mask);
                detail::store_bits(bits[word], bits[word] | mask);
            });
        }
        home.free_granules = static_cast<std::uint16_t>(home.free_granules + count - twice);
        if (is_used) settle(home);
        if (twice != 0) [[unlikely]] {
            own_.count(1); // subtracted at both frees; usually it is one object
            note_misuse(freed_twice, begin, freed_twice_advice);
        }
        begin = stop;
    }
}

void affinity_group::flush_before(stream& at) noexcept {
    if (at.before_begin == nullptr) return;
    unsigned char* const begin = std::exchange(at.before_begin, nullptr);
    free_run(begin, std::exchange(at.before_end, nullptr));
}

void affinity_group::flush(stream& at) noexcept {
    flush_before(at);
    if (at.freed_begin == nullptr) return;
    unsigned char* const begin = std::exchange(at.freed_begin, nullptr);
    free_run(begin, std::exchange(at.freed_end, nullptr));
}

void affinity_group::settle_part(thread_part& part) noexcept {
    for (std::size_t index = 0; index < stream_count; ++index) {
        flush(part.streams[index]);
        abandon_extent(part.streams[index]);
        leave(part, index);
    }
}

void affinity_group::settle_all() noexcept {
    settle_ownerless();
    settle_part(own_);
    parts_.for_each_owned([this](thread_part& part) { settle_part(part); });
    std::exchange(misuse_, {}).report(); // no other thread uses the group or holds the lock
}

// Extents.

/// Makes the run that was freed last the extent: it is close, and in the CPU cache.
bool affinity_group::reuse_freed(thread_part& mine, std::size_t stream_index, request asked) noexcept {
    stream& at = mine.streams[stream_index];
    const std::size_t wanted = asked.bytes + gap_before(address_of(at.freed_begin), asked.alignment);
    if (at.freed_begin == nullptr || static_cast<std::size_t>(at.freed_end - at.freed_begin) < wanted) return false;
    flush_before(at); // the bits that are read below include these
    page& home = layout_.page_of(at.freed_begin);
    const bool is_ours = home.place != page_place::taken || &home == mine.taken[stream_index];
    const bool is_used = home.place != page_place::empty && home.place != page_place::untouched;
    if (home.stream != stream_index || at.freed_end > layout_.end_of(home) || !is_ours || !is_used) return false;
    unsigned char* const begin = at.freed_begin;
    unsigned char* const end = at.freed_end;
    bool twice = false;
    for_each_word_of(layout_.granule_of(begin), static_cast<std::size_t>(end - begin) >> layout_.granule_shift,
                     [&](std::size_t word, bit_word mask) {
                         twice = twice || (layout_.free_bits(layout_.block_of(begin))[word] & mask) != 0;
                     });
    if (twice) return false; // flush() reports the double free
    at.freed_begin = at.freed_end = nullptr;
    abandon_extent(at);
    if (&home != mine.taken[stream_index]) {
        leave(mine, stream_index);
        unlist(home);
        open_page(mine, stream_index, home);
    }
    open_extent(at, begin, end);
    return true;
}

/// Makes the next large enough run of the stream's page its extent.
bool affinity_group::next_run(thread_part& mine, std::size_t stream_index, request asked) noexcept {
    page* const home = mine.taken[stream_index];
    if (home == nullptr || home->free_granules == 0) return false;
    affinity_block* const in = layout_.block_of(home);
    bit_word* const bits = layout_.free_bits(in);
    const std::size_t first = layout_.index_of(*home) * layout_.words_per_page * bits_per_word;
    const std::size_t end = first + layout_.words_per_page * bits_per_word;
    for (std::size_t from = first + mine.scanned[stream_index];;) {
        const std::size_t run = find_bit(bits, from, end, true);
        if (run == end) break;
        const std::size_t stop = find_bit(bits, run, end, false);
        const std::uintptr_t at = address_of(in) + (run << layout_.granule_shift);
        if (((stop - run) << layout_.granule_shift) >= asked.bytes + gap_before(at, asked.alignment)) {
            auto* const begin = static_cast<unsigned char*>(pointer_at(at));
            open_extent(mine.streams[stream_index], begin, begin + ((stop - run) << layout_.granule_shift));
            clear_bits(bits, run, stop - run);
            home->free_granules = static_cast<std::uint16_t>(home->free_granules - (stop - run));
            mine.scanned[stream_index] = static_cast<std::uint16_t>(stop - first);
            return true;
        }
        mine.skipped[stream_index] = static_cast<std::uint16_t>(mine.skipped[stream_index] + (stop - run));
        mine.largest_skipped[stream_index] =
            std::max(mine.largest_skipped[stream_index], static_cast<std::uint16_t>(stop - run));
        from = stop;
    }
    mine.scanned[stream_index] = static_cast<std::uint16_t>(end - first);
    return false;
}

/// Finds a filed page with a run for the request. Used only before an allocation fails, because it searches every page
/// that may have such a run.
affinity_page* affinity_group::search_filed(request asked) noexcept {
    const std::size_t granules = asked.bytes >> layout_.granule_shift;
    for (std::size_t index = class_of_run(granules); index < run_classes; ++index) {
        for (page* each = filed_[index]; each != nullptr; each = each->next) {
            affinity_block* const in = layout_.block_of(each);
            const bit_word* const bits = layout_.free_bits(in);
            const std::size_t first = layout_.index_of(*each) * layout_.words_per_page * bits_per_word;
            const std::size_t end = first + layout_.words_per_page * bits_per_word;
            for (std::size_t run = find_bit(bits, first, end, true); run != end;) {
                const std::size_t stop = find_bit(bits, run, end, false);
                const std::uintptr_t at = address_of(in) + (run << layout_.granule_shift);
                if (((stop - run) << layout_.granule_shift) >= asked.bytes + gap_before(at, asked.alignment)) {
                    unlist(*each);
                    return each;
                }
                run = find_bit(bits, stop, end, true);
            }
        }
    }
    return nullptr;
}

/// Removes a page from its list that has, or may have, a run of the size.
affinity_page* affinity_group::find_page(std::size_t stream_index, std::size_t bytes, bool may_look) noexcept {
    page* found = may_look ? partial_[stream_index] : nullptr;
    if (found == nullptr && stream_index == 0) {
        const std::size_t least = static_cast<std::size_t>(std::bit_width((bytes >> layout_.granule_shift) - 1));
        const std::uint32_t fitting = filed_classes_ & ~static_cast<std::uint32_t>(low_bits(least));
        if (fitting != 0) found = filed_[lowest_bit(fitting)];
    }
    if (found != nullptr) unlist(*found);
    return found;
}

/// Prepares an extent that fits the request.
/// Returns   false when out of memory.
bool affinity_group::refill(thread_part& mine, std::size_t stream_index, request asked) noexcept {
    stream& at = mine.streams[stream_index];
    if (reuse_freed(mine, stream_index, asked)) return true;
    flush(at);
    abandon_extent(at);
    if (next_run(mine, stream_index, asked)) return true;
    leave(mine, stream_index);
    settle_ownerless();
    const std::size_t granule = layout_.granule_bytes();
    const std::size_t anywhere = asked.bytes + (asked.alignment > granule ? asked.alignment - granule : 0);
    bool is_refused = false;
    for (unsigned looks = 0;; ++looks) {
        if (page* const found = find_page(stream_index, anywhere, looks < max_looks || is_refused)) {
            open_page(mine, stream_index, *found);
            if (next_run(mine, stream_index, asked)) return true;
            leave(mine, stream_index);
            continue;
        }
        page* found = is_refused && stream_index == 0 ? search_filed(asked) : nullptr;
        if (found != nullptr) {
            open_page(mine, stream_index, *found);
            return next_run(mine, stream_index, asked);
        }
        found = fresh_page();
        if (found != nullptr) {
            open_fresh_page(mine, stream_index, *found);
            return true;
        }
        if (is_refused) return false;
        // Next, search every listed page, and free the memory that the thread holds for other sizes.
        is_refused = true;
        settle_part(mine);
    }
}

}
