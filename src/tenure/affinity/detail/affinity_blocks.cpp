// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/detail/affinity_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include <tenure/base/linked_list.hpp>
#include <tenure/platform/address_map.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t max_row_pages = 8; // 512 KiB: with more, traversals gain nothing

constexpr std::uint64_t block_canary = 0xAFF1'2E0D'B10C'4A5E;

constinit platform::address_map owners{}; // of all groups' blocks

}

affinity_blocks::~affinity_blocks() {
    while (first_ != nullptr) release(first_);
}

/// Enters this group in the blocks and in the map of all groups' blocks, where they have entries.
void affinity_blocks::mark_as_ours() noexcept {
    for (affinity_block* block = first_; block != nullptr; block = block->next) {
        block->canary = block_canary ^ address_of(this);
        for (std::size_t offset = 0; offset < bits_.block_bytes; offset += affinity_page_bytes)
            static_cast<void>(owners.set(reinterpret_cast<unsigned char*>(block) + offset, this));
    }
}

void affinity_blocks::exchange(affinity_blocks& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(max_retained_bytes_, other.max_retained_bytes_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(newest_, other.newest_);
    std::swap(empty_, other.empty_);
    std::swap(latest_, other.latest_);
    std::swap(fresh_counts_, other.fresh_counts_);
    std::swap(block_count_, other.block_count_);
    std::swap(empty_block_count_, other.empty_block_count_);
    std::swap(used_pages_, other.used_pages_);
    std::swap(peak_pages_, other.peak_pages_);
    mark_as_ours();
    other.mark_as_ours();
}

affinity_block* affinity_blocks::add() noexcept {
    const std::size_t bytes = bits_.block_bytes;
    void* const memory = source_->acquire(bytes, bytes);
    if (memory == nullptr) return nullptr;
    if (!is_aligned(memory, bytes)) [[unlikely]] {
        if constexpr (checks::caller) misuse_.add(ignored_alignment, memory, ignored_alignment_advice);
        source_->release(memory, bytes);
        return nullptr;
    }
    for (std::size_t offset = 0; offset < bytes; offset += affinity_page_bytes) {
        if (owners.set(static_cast<unsigned char*>(memory) + offset, this)) continue;
        while (offset != 0) {
            offset -= affinity_page_bytes;
            owners.erase(static_cast<unsigned char*>(memory) + offset);
        }
        source_->release(memory, bytes);
        return nullptr;
    }
    if (!source_->is_zeroed()) std::memset(memory, 0, bits_.front_bytes);
    auto* const fresh = new (memory) affinity_block;
    fresh->next = nullptr;
    fresh->previous = last_;
    fresh->canary = block_canary ^ address_of(this);
    fresh->touched_pages = fresh->empty_pages = 0;
    (last_ != nullptr ? last_->next : first_) = fresh;
    last_ = fresh;
    ++block_count_;
    ++empty_block_count_;
    platform::add_leak_root(memory, bytes);
    return fresh;
}

void affinity_blocks::release(affinity_block* block) noexcept {
    if (block == newest_) newest_ = block->next;
    (block->previous != nullptr ? block->previous->next : first_) = block->next;
    (block->next != nullptr ? block->next->previous : last_) = block->previous;
    --block_count_;
    if constexpr (checks::caller) platform::unpoison(block, bits_.block_bytes);
    for (std::size_t offset = 0; offset < bits_.block_bytes; offset += affinity_page_bytes)
        owners.erase(reinterpret_cast<unsigned char*>(block) + offset);
    platform::remove_leak_root(block, bits_.block_bytes);
    source_->release(block, bits_.block_bytes);
}

void affinity_blocks::release_empty(affinity_block* block) noexcept {
    for (std::size_t index = 0; index < block->touched_pages; ++index) {
        affinity_page& page = block->pages[bits_.first_page() + index];
        if (page.state == page_state::empty) unlink(empty_, page);
    }
    for (affinity_page*& each : latest_)
        if (each != nullptr && bits_.block_of(each) == block) each = nullptr;
    --empty_block_count_;
    release(block);
}

affinity_page* affinity_blocks::acquire_page(std::size_t stream) noexcept {
    affinity_page* page = next_page(stream);
    if (page == nullptr && empty_ != nullptr) page = first_of_row(empty_);
    if (page == nullptr) page = fresh_page(stream);
    if (page == nullptr) page = page_set_aside();
    if (page == nullptr) return nullptr;
    affinity_block* const block = bits_.block_of(page);
    if (block->empty_pages-- == block->touched_pages) --empty_block_count_;
    if (page->state == page_state::empty) {
        unlink(empty_, *page);
    } else {
        page->free_granules = 0;
        if constexpr (checks::caller) platform::poison(bits_.begin_of(*page), bits_.bytes_of(*page));
    }
    latest_[stream] = page;
    peak_pages_ = std::max(peak_pages_, ++used_pages_);
    return page;
}

/// The page behind the one that the stream acquired last, if it is empty or set aside.
affinity_page* affinity_blocks::next_page(std::size_t stream) const noexcept {
    affinity_page* const latest = latest_[stream];
    if (latest == nullptr) return nullptr;
    const std::size_t next = bits_.index_of(*latest) + 1;
    if (next >= bits_.first_page() + bits_.block_of(latest)->touched_pages) return nullptr;
    return latest[1].is_used() ? nullptr : latest + 1;
}

/// The first of the empty pages directly before this one, so that a stream continues upwards: see next_page().
affinity_page* affinity_blocks::first_of_row(affinity_page* page) const noexcept {
    const affinity_page* const first = &bits_.block_of(page)->pages[bits_.first_page()];
    for (std::size_t count = 1; count < max_row_pages && page != first && page[-1].state == page_state::empty; ++count)
        --page;
    return page;
}

/// A page that was not used before. Sets some behind it aside for the stream: as many as it has, up to a row.
affinity_page* affinity_blocks::fresh_page(std::size_t stream) noexcept {
    while (newest_ != nullptr && newest_->touched_pages == bits_.usable_pages()) newest_ = newest_->next;
    if (newest_ == nullptr) newest_ = add();
    if (newest_ == nullptr) return nullptr;
    affinity_block& block = *newest_;
    affinity_page* const page = &block.pages[bits_.first_page() + block.touched_pages];
    std::size_t row = stream == 0 ? 1 : std::max<std::size_t>(fresh_counts_[stream], 1); // mixed pages follow anyway
    row = std::min(row, bits_.usable_pages() - block.touched_pages);
    fresh_counts_[stream] = static_cast<std::uint8_t>(std::min(fresh_counts_[stream] + row, max_row_pages));
    block.touched_pages += row;
    block.empty_pages += row;
    return page;
}

/// A page that is set aside for any stream.
affinity_page* affinity_blocks::page_set_aside() const noexcept {
    for (affinity_block* block = first_; block != nullptr; block = block->next) {
        for (std::size_t index = 0; block->empty_pages != 0 && index < block->touched_pages; ++index) {
            affinity_page& page = block->pages[bits_.first_page() + index];
            if (page.state == page_state::untouched) return &page;
        }
    }
    return nullptr;
}

void affinity_blocks::release_page(affinity_page& page) noexcept {
    affinity_block* const block = bits_.block_of(&page);
    bits_.clear(page);
    page.state = page_state::empty;
    push_front(empty_, page);
    --used_pages_;
    if (++block->empty_pages != block->touched_pages) return;
    if (++empty_block_count_ > max_retained_bytes_ / bits_.block_bytes) release_empty(block);
}

void affinity_blocks::clear() noexcept {
    for_each_page([this](affinity_page& page) {
        if (page.state != page_state::empty) {
            bits_.clear(page);
            if constexpr (checks::caller) {
                platform::unpoison(bits_.begin_of(page), bits_.bytes_of(page));
                platform::poison_freed(bits_.begin_of(page), bits_.bytes_of(page));
            }
        }
        page.state = page_state::untouched;
    });
    for (affinity_block* block = first_; block != nullptr; block = block->next)
        block->touched_pages = block->empty_pages = 0;
    empty_ = nullptr;
    std::fill(std::begin(latest_), std::end(latest_), nullptr);
    std::fill(std::begin(fresh_counts_), std::end(fresh_counts_), std::uint8_t{0});
    newest_ = first_;
    used_pages_ = 0;
    empty_block_count_ = block_count_;
}

std::size_t affinity_blocks::trim() noexcept {
    for (affinity_block* block = first_; block != nullptr;) {
        affinity_block* const next = block->next;
        if (block->empty_pages == block->touched_pages) release_empty(block);
        block = next;
    }
    std::size_t decommitted = 0;
    for (affinity_page* page = empty_; page != nullptr; page = page->next) {
        if (page->capacity == 0) continue; // already returned
        if (!source_->decommit(bits_.begin_of(*page), bits_.bytes_of(*page))) break;
        decommitted += bits_.bytes_of(*page);
        page->capacity = 0;
    }
    return decommitted;
}

bool affinity_blocks::owns(const void* pointer) const noexcept { return owners.get(pointer) == this; }

bool affinity_blocks::is_intact(const affinity_block& block) const noexcept {
    return block.canary == (block_canary ^ address_of(this)) && block.empty_pages <= block.touched_pages &&
           block.touched_pages <= bits_.usable_pages();
}

void affinity_blocks::add_to(allocator_stats& stats) const noexcept {
    for_each_page([&](const affinity_page& page) {
        if (page.is_used())
            stats.live_bytes += bits_.bytes_of(page) - (std::size_t{page.free_granules} << bits_.granule_shift);
    });
    stats.peak_bytes += peak_pages_ * affinity_page_bytes;
    stats.reserved_bytes += reserved_bytes();
    stats.source_blocks += block_count_;
}

void affinity_blocks::add_to(affinity_usage& usage) const noexcept {
    for_each_page([&](const affinity_page& page) {
        const std::size_t bytes = bits_.bytes_of(page);
        const std::size_t largest_bytes = page.is_used() ? bits_.largest_run_bytes(page) : bytes;
        usage.largest_free_bytes = std::max(usage.largest_free_bytes, largest_bytes);
        if (!page.is_used()) return;
        const std::size_t free_bytes = std::size_t{page.free_granules} << bits_.granule_shift;
        usage.reserved_bytes += bytes - free_bytes;
        usage.free_bytes += free_bytes;
        usage.scattered_bytes += free_bytes - largest_bytes;
    });
    usage.block_count += block_count_;
    usage.total_bytes += reserved_bytes();
    usage.bookkeeping_bytes += block_count_ * std::max(bits_.front_bytes, bits_.first_page() * affinity_page_bytes);
    usage.available_bytes = usage.total_bytes - usage.bookkeeping_bytes - usage.reserved_bytes;
}

bool affinity_blocks::valid(affinity_census& found) const noexcept {
    std::size_t blocks = 0, empty_blocks = 0, used = 0, all_empty = 0, set_aside = 0, in_list = 0;
    for (const affinity_block* block = first_; block != nullptr; block = block->next, ++blocks) {
        std::size_t empty_pages = 0;
        if (!is_intact(*block) || (block->next == nullptr) != (block == last_)) return false;
        for (std::size_t index = 0; index < block->touched_pages; ++index) {
            const affinity_page& page = block->pages[bits_.first_page() + index];
            if (!bits_.valid(page) || page.state == page_state::active) return false;
            set_aside += std::size_t{page.state == page_state::untouched};
            found.objects += bits_.count_objects(page);
            found.is_complete = found.is_complete && (bits_.has_starts || page.stream != 0 || !page.is_used());
            empty_pages += std::size_t{!page.is_used()};
            found.listed_pages += std::size_t{page.state == page_state::partial || page.state == page_state::measured};
        }
        if (empty_pages != block->empty_pages) return false;
        empty_blocks += std::size_t{empty_pages == block->touched_pages};
        all_empty += empty_pages;
        used += block->touched_pages - empty_pages;
    }
    return is_valid_list(empty_, page_state::empty, in_list) && in_list + set_aside == all_empty &&
           blocks == block_count_ && empty_blocks == empty_block_count_ && used == used_pages_;
}

}
