// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/fenced_blocks.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/linked_list.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/heap/detail/checked/record_memory.hpp>
#include <tenure/platform/address_map.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

void* fenced_blocks::record::block() const noexcept { return pointer_at(range + platform::page_bytes()); }

namespace {

constexpr std::size_t records_bytes = 4096;
constexpr std::size_t max_checked_behind = 64;
constexpr std::size_t max_rested_bytes = std::size_t{16} << 20, max_rested_block_bytes = std::size_t{2} << 20;
constexpr std::size_t max_rested_count = 64, least_choice = 8;
constinit platform::address_map ranges{}; // the record of each piece of a range

[[nodiscard]] std::size_t whole_pages(std::size_t bytes) noexcept { return align_up(bytes, platform::page_bytes()); }

/// The bytes behind a block that are written and checked, up to the end of its last page.
[[nodiscard]] std::size_t behind(std::size_t bytes, std::size_t committed) noexcept {
    return std::min(max_checked_behind, committed - bytes);
}
void fill_behind(void* block, std::size_t bytes, std::size_t committed) noexcept {
    std::memset(bytes_from(block, bytes), guard_fill, behind(bytes, committed));
}
[[nodiscard]] bool is_whole_behind(const void* block, std::size_t bytes, std::size_t committed) noexcept {
    const std::size_t count = behind(bytes, committed);
    const unsigned char* const first = bytes_from(block, bytes);
    return std::all_of(first, first + count, [](unsigned char each) { return each == guard_fill; });
}

/// Forgets the pieces from the address on.
void erase_pieces(std::uintptr_t range, std::size_t range_bytes) noexcept {
    for (std::size_t at = 0; at < range_bytes; at += platform::address_map::piece_bytes)
        ranges.erase(pointer_at(range + at));
}

}

fenced_blocks::~fenced_blocks() {
    free_all();
    while (pages_ != nullptr) {
        void* const page = pages_;
        std::memcpy(&pages_, page, sizeof pages_);
        unmap_records(page, records_bytes);
    }
}

/// Requires  the lock.
fenced_blocks::record* fenced_blocks::take_record() noexcept {
    if (unused_ == nullptr) {
        void* const page = map_records(records_bytes);
        if (page == nullptr) return nullptr;
        std::memcpy(page, &pages_, sizeof pages_); // the first record's place holds the link
        pages_ = page;
        auto* const records = static_cast<record*>(page);
        for (std::size_t each = 1; each < records_bytes / sizeof(record); ++each) {
            records[each].next = unused_;
            unused_ = &records[each];
        }
    }
    record* const taken = unused_;
    unused_ = taken->next;
    return taken;
}

/// The record stays the caller's.
/// Requires  the lock.
void fenced_blocks::forget(record& gone) noexcept {
    unlink(first_, gone);
    erase_pieces(gone.range, gone.range_bytes);
    --live_count_;
    live_bytes_ -= gone.bytes;
}

/// Returns a range to the system.
/// Requires  no list has the record.
void fenced_blocks::unreserve(record& gone) noexcept {
    platform::unreserve(pointer_at(gone.range), gone.range_bytes);
    const platform::lock_guard lock(mutex_);
    gone.next = unused_;
    unused_ = &gone;
}

/// Makes the block of a record known.
/// Returns   false when out of memory; nothing has changed.
bool fenced_blocks::enter(record& fresh) noexcept {
    const platform::lock_guard lock(mutex_);
    bool is_known = true;
    for (std::size_t at = 0; at < fresh.range_bytes && is_known; at += platform::address_map::piece_bytes)
        is_known = ranges.set(pointer_at(fresh.range + at), &fresh);
    if (!is_known) {
        erase_pieces(fresh.range, fresh.range_bytes);
        return false;
    }
    fresh.next = fresh.previous = nullptr;
    push_front(first_, fresh);
    ++live_count_;
    live_bytes_ += fresh.bytes;
    peak_count_ = std::max(peak_count_, live_count_);
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    return true;
}

/// Removes a range that rests and has room for so many bytes, and a quarter of them to grow.
/// Returns   nullptr if too few rest.
fenced_blocks::record* fenced_blocks::take_rested(std::size_t committed) noexcept {
    const std::size_t guards = 2 * platform::page_bytes();
    const auto fits = [&](const record& each) {
        const std::size_t room = each.range_bytes - guards;
        return room >= committed + committed / 4 && room <= 2 * committed;
    };
    const platform::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const record* each = rested_; each != nullptr; each = each->next) count += std::size_t{fits(*each)};
    if (count < least_choice) return nullptr;
    if (random_ == 0) random_ = platform::fresh_random().words[0];
    random_ = folded_product(random_ ^ 0x9E37'79B9'7F4A'7C15, 0xD134'2543'DE82'EF95) + count;
    std::size_t left = count / 2 + random_ % (count - count / 2); // newer ones that are left alone
    record* taken = rested_;
    while (!fits(*taken) || left-- != 0) taken = taken->next;
    unlink(rested_, *taken);
    --rested_count_;
    rested_bytes_ -= taken->committed;
    return taken;
}

/// Returns   a record of new addresses, without memory; nullptr when out of memory.
fenced_blocks::record* fenced_blocks::reserve(std::size_t committed) noexcept {
    constexpr std::size_t piece = platform::address_map::piece_bytes;
    const std::size_t range_bytes = align_up(committed + committed / 4 + 2 * platform::page_bytes(), piece);
    void* range = platform::reserve(range_bytes, piece);
    if (range == nullptr && trim() != 0) range = platform::reserve(range_bytes, piece);
    if (range == nullptr) return nullptr;
    {
        const platform::lock_guard lock(mutex_);
        if (record* const fresh = take_record(); fresh != nullptr) {
            *fresh = {nullptr, nullptr, this, address_of(range), range_bytes, 0, 0, 0};
            return fresh;
        }
    }
    platform::unreserve(range, range_bytes);
    return nullptr;
}

void* fenced_blocks::allocate(std::size_t bytes, std::size_t alignment, contents wanted) noexcept {
    if (alignment > platform::page_bytes() || bytes > max_object_bytes / 4) return nullptr;
    const std::size_t committed = whole_pages(bytes);
    record* fresh = take_rested(committed);
    if (fresh == nullptr) fresh = reserve(committed);
    if (fresh == nullptr) return nullptr;
    void* const block = fresh->block();
    const std::size_t written = fresh->committed; // before it rested
    fresh->bytes = bytes;
    fresh->committed = committed;
    if (written > committed) platform::decommit(bytes_from(block, committed), written - committed);
    if (!platform::commit(block, committed) || !enter(*fresh)) {
        unreserve(*fresh);
        return nullptr;
    }
    if (wanted == contents::zero) std::memset(block, 0, std::min(written, committed));
    fill_behind(block, bytes, committed);
    return block;
}

bool fenced_blocks::contains(const void* pointer) const noexcept {
    const auto* const found = static_cast<const record*>(ranges.get(pointer));
    return found != nullptr && found->owner == this;
}

/// The record of the block that begins at the address, or nullptr.
/// Requires  the lock.
fenced_blocks::record* fenced_blocks::find(const void* block) const noexcept {
    auto* const found = static_cast<record*>(ranges.get(block));
    return found != nullptr && found->owner == this && found->block() == block ? found : nullptr;
}

fenced_blocks::finding fenced_blocks::deallocate(void* block) noexcept {
    record* found = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        found = find(block);
        if (found == nullptr) return finding::no_begin;
        const bool is_checked = has(mitigations_on(), mitigation::canary);
        if (is_checked && !is_whole_behind(block, found->bytes, found->committed)) return finding::written_past_end;
        forget(*found);
    }
    if (found->committed > max_rested_block_bytes || !platform::forbid(block, found->committed)) {
        unreserve(*found);
        return finding::freed;
    }
    {
        const platform::lock_guard lock(mutex_);
        found->next = found->previous = nullptr;
        found->freed_at = expire_calls_;
        push_front(rested_, *found);
        ++rested_count_;
        rested_bytes_ += found->committed;
    }
    (void)push_out(max_rested_bytes, max_rested_count, 0);
    return finding::freed;
}

/// Returns the oldest ranges to the system until at most so many bytes and ranges rest, and those that were freed
/// before that call of expire().
std::size_t fenced_blocks::push_out(std::size_t bytes, std::size_t count, std::uint64_t before) noexcept {
    std::size_t returned = 0;
    while (true) {
        record* oldest = nullptr;
        {
            const platform::lock_guard lock(mutex_);
            oldest = rested_;
            while (oldest != nullptr && oldest->next != nullptr) oldest = oldest->next;
            const bool is_over = rested_bytes_ > bytes || rested_count_ > count;
            if (oldest == nullptr || (!is_over && oldest->freed_at >= before)) return returned;
            unlink(rested_, *oldest);
            --rested_count_;
            rested_bytes_ -= oldest->committed;
        }
        returned += oldest->committed;
        unreserve(*oldest);
    }
}

std::size_t fenced_blocks::expire() noexcept {
    std::uint64_t calls = 0;
    {
        const platform::lock_guard lock(mutex_);
        calls = ++expire_calls_;
    }
    return push_out(SIZE_MAX, SIZE_MAX, calls - 1);
}

std::size_t fenced_blocks::resting_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return rested_bytes_;
}

bool fenced_blocks::resize(void* block, std::size_t bytes) noexcept {
    const std::size_t page = platform::page_bytes();
    const platform::lock_guard lock(mutex_);
    record* const found = find(block);
    if (found == nullptr || bytes == 0 || bytes > found->range_bytes - 2 * page) return false;
    const std::size_t wanted = whole_pages(bytes), before = found->committed;
    if (wanted > before && !platform::commit(bytes_from(block, before), wanted - before)) return false;
    if (wanted < before) (void)platform::seal(bytes_from(block, wanted), before - wanted);
    if (bytes > found->bytes) // what was the guard reads as zero again
        std::memset(bytes_from(block, found->bytes), 0, behind(found->bytes, before));
    live_bytes_ += bytes - found->bytes;
    found->bytes = bytes;
    found->committed = wanted;
    fill_behind(block, bytes, wanted);
    return true;
}

std::size_t fenced_blocks::bytes_of(const void* block) const noexcept {
    const platform::lock_guard lock(mutex_);
    const record* const found = find(block);
    return found != nullptr ? found->bytes : 0;
}

void fenced_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                             void* context) const noexcept {
    for (const record* each = first_; each != nullptr; each = each->next) visit(context, each->block(), each->bytes);
}

void fenced_blocks::free_all() noexcept {
    while (true) {
        record* gone = nullptr;
        {
            const platform::lock_guard lock(mutex_);
            gone = first_;
            if (gone == nullptr) break;
            forget(*gone);
        }
        unreserve(*gone);
    }
    (void)trim();
}

std::size_t fenced_blocks::live_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_count_;
}

std::size_t fenced_blocks::live_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_bytes_;
}

std::size_t fenced_blocks::peak_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return peak_count_;
}

std::size_t fenced_blocks::peak_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return peak_bytes_;
}

}
