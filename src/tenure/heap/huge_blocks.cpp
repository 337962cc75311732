// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/huge_blocks.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t step_bytes = std::size_t{64} * 1024;
constexpr std::size_t least_lead_bytes = 4096;
static_assert(sizeof(huge_block) <= least_lead_bytes);

[[nodiscard]] huge_block& head_of(const void* block) noexcept {
    // The block may begin where the head's segment ends at the latest, because alignments stay below half of one.
    return *static_cast<huge_block*>(pointer_at(align_down(address_of(block) - 1, heap_segment_bytes)));
}

}

void huge_blocks::list::insert(huge_block& block) noexcept {
    block.previous = nullptr;
    block.next = first;
    if (first != nullptr) first->previous = &block;
    first = &block;
    mapped_bytes += block.mapped_bytes;
}

void huge_blocks::list::remove(huge_block& block) noexcept {
    (block.previous != nullptr ? block.previous->next : first) = block.next;
    if (block.next != nullptr) block.next->previous = block.previous;
    mapped_bytes -= block.mapped_bytes;
}

huge_blocks::~huge_blocks() {
    while (live_.first != nullptr) {
        huge_block& block = *live_.first;
        live_.remove(block);
        release(block);
    }
    release_kept_before(UINT64_MAX);
}

/// Requires  the block is in no list.
std::size_t huge_blocks::release(huge_block& block) noexcept {
    std::size_t const bytes = block.mapped_bytes;
    platform::remove_leak_root(&block, bytes);
    source_.release(&block, bytes);
    return bytes;
}

std::size_t huge_blocks::release_kept_before(std::uint64_t freed_before_ns) noexcept {
    std::size_t bytes = 0;
    for (huge_block* block = kept_.first; block != nullptr;) {
        huge_block* const next = block->next;
        if (block->freed_at_ns < freed_before_ns) {
            kept_.remove(*block);
            bytes += release(*block);
        }
        block = next;
    }
    return bytes;
}

/// The smallest kept block that is large enough and not more than half as large again; else the largest smaller one, if
/// the source can make it larger where it is.
huge_block* huge_blocks::take_kept(std::size_t needed) noexcept {
    huge_block* best = nullptr;
    huge_block* largest = nullptr;
    for (huge_block* block = kept_.first; block != nullptr; block = block->next) {
        bool const fits = block->mapped_bytes >= needed && block->mapped_bytes - needed <= needed / 2;
        if (fits && (best == nullptr || block->mapped_bytes < best->mapped_bytes)) best = block;
        bool const is_smaller = block->mapped_bytes < needed;
        if (is_smaller && (largest == nullptr || block->mapped_bytes > largest->mapped_bytes)) largest = block;
    }
    if (best == nullptr && largest != nullptr && source_.extend(largest, largest->mapped_bytes, needed)) {
        platform::remove_leak_root(largest, largest->mapped_bytes);
        platform::add_leak_root(largest, needed);
        kept_.mapped_bytes += needed - largest->mapped_bytes;
        largest->mapped_bytes = needed;
        best = largest;
    }
    if (best != nullptr) kept_.remove(*best);
    return best;
}

huge_block* huge_blocks::map_new(std::size_t needed) noexcept {
    // Room to grow where it is: untouched, it costs addresses alone. A source with a limit has none to spare.
    bool const is_plentiful = source_.largest_bytes() >= max_object_bytes;
    std::size_t mapped = is_plentiful ? align_up(needed + needed / 4, step_bytes) : needed;
    while (kept_.first != nullptr && live_.mapped_bytes + kept_.mapped_bytes + mapped > peak_mapped_bytes_) {
        huge_block* oldest = kept_.first;
        for (huge_block* block = oldest; block != nullptr; block = block->next) {
            if (block->freed_at_ns < oldest->freed_at_ns) oldest = block;
        }
        kept_.remove(*oldest);
        release(*oldest);
    }
    void* memory = source_.acquire(mapped, heap_segment_bytes);
    if (memory == nullptr && mapped != needed) memory = source_.acquire(mapped = needed, heap_segment_bytes);
    if (memory == nullptr) return nullptr;
    platform::add_leak_root(memory, mapped);
    auto* const head = new (memory) huge_block;
    std::memset(head->class_of_slice, huge_class, sizeof head->class_of_slice);
    head->mapped_bytes = mapped;
    return head;
}

void* huge_blocks::allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns) noexcept {
    if (bytes > max_object_bytes / 2 || alignment > largest_alignment) return nullptr;
    std::size_t const lead = std::max(alignment, least_lead_bytes);
    std::size_t const needed = align_up(lead + bytes, step_bytes);
    std::lock_guard const lock(mutex_);
    huge_block* head = take_kept(needed);
    if (now_ns > how_.time_ns) release_kept_before(now_ns - how_.time_ns);
    if (head == nullptr) head = map_new(needed);
    if (head == nullptr) return nullptr;
    head->lead_bytes = lead;
    head->bytes = bytes;
    live_.insert(*head);
    live_bytes_ += bytes;
    peak_mapped_bytes_ = std::max(peak_mapped_bytes_, live_.mapped_bytes + kept_.mapped_bytes);
    return pointer_at(address_of(head) + lead);
}

void huge_blocks::deallocate(void* block, std::uint64_t now_ns) noexcept {
    huge_block& head = head_of(block);
    std::lock_guard const lock(mutex_);
    if (head.bytes == 0 || address_of(&head) + head.lead_bytes != address_of(block)) {
        report_misuse("a huge heap block was freed twice, or is not the begin of one", block,
                      "Look for a second owner of this block.");
        return;
    }
    live_.remove(head);
    live_bytes_ -= head.bytes;
    head.bytes = 0;
    head.freed_at_ns = now_ns;
    if (now_ns > how_.time_ns) release_kept_before(now_ns - how_.time_ns);
    if (how_.time_ns == 0 || kept_.mapped_bytes + head.mapped_bytes > how_.limit_bytes) {
        release(head);
        return;
    }
    kept_.insert(head);
}

bool huge_blocks::resize(void* block, std::size_t bytes) noexcept {
    huge_block& head = head_of(block);
    if (bytes == 0 || bytes > max_object_bytes / 2) return false;
    std::size_t const needed = align_up(head.lead_bytes + bytes, step_bytes);
    std::lock_guard const lock(mutex_);
    if (needed > head.mapped_bytes) {
        if (!source_.extend(&head, head.mapped_bytes, needed)) return false;
        platform::remove_leak_root(&head, head.mapped_bytes);
        platform::add_leak_root(&head, needed);
        live_.mapped_bytes += needed - head.mapped_bytes;
        head.mapped_bytes = needed;
        peak_mapped_bytes_ = std::max(peak_mapped_bytes_, live_.mapped_bytes + kept_.mapped_bytes);
    }
    live_bytes_ += bytes - head.bytes;
    head.bytes = bytes;
    return true;
}

std::size_t huge_blocks::usable_bytes(const void* block) const noexcept {
    std::lock_guard const lock(mutex_);
    huge_block const& head = head_of(block);
    return head.mapped_bytes - head.lead_bytes;
}

std::size_t huge_blocks::expire(std::uint64_t now_ns) noexcept {
    std::lock_guard const lock(mutex_);
    return now_ns > how_.time_ns ? release_kept_before(now_ns - how_.time_ns) : 0;
}

std::size_t huge_blocks::trim() noexcept {
    std::lock_guard const lock(mutex_);
    return release_kept_before(UINT64_MAX);
}

std::size_t huge_blocks::live_bytes() const noexcept {
    std::lock_guard const lock(mutex_);
    return live_bytes_;
}

std::size_t huge_blocks::kept_bytes() const noexcept {
    std::lock_guard const lock(mutex_);
    return kept_.mapped_bytes;
}

}
