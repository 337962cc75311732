// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/huge_blocks.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/process.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t step_bytes = std::size_t{64} * 1024;
constexpr std::size_t least_lead_bytes = 4096;
static_assert(sizeof(huge_block) <= least_lead_bytes);

[[nodiscard]] void* block_in(const huge_block& head) noexcept { return pointer_at(head.mapped + head.lead_bytes); }

/// The requested OS pages. Memory mapped behind them is room to grow, which must be requested first.
[[nodiscard]] std::size_t usable_in(const huge_block& head) noexcept {
    return align_up(head.lead_bytes + head.bytes, unit_bytes) - head.lead_bytes;
}

}

huge_block& huge_blocks::head_of(const void* block) const noexcept {
    return *static_cast<huge_block*>(segment_head::of(pointer_at(address_of(block) - 1), memory_.segment_bytes()));
}

void huge_blocks::list::insert(huge_block& block) noexcept {
    push_front(first, block);
    mapped_bytes += block.mapped_bytes;
}

void huge_blocks::list::remove(huge_block& block) noexcept {
    unlink(first, block);
    mapped_bytes -= block.mapped_bytes;
}

void huge_blocks::release_all() noexcept {
    const platform::lock_guard lock(mutex_);
    while (live_.first != nullptr) {
        huge_block& block = *live_.first;
        live_.remove(block);
        release(block);
    }
    memory_.uncount_use(live_bytes_);
    live_bytes_ = live_count_ = 0;
    release_retained_before(UINT64_MAX);
}

/// A moved block cannot move back. If its new head cannot be registered, the block is found through the lists.
void huge_blocks::announce(huge_block& block) noexcept {
    block.is_known = memory_.announce_huge(block);
    if (!block.is_known) unknown_count_.fetch_add(1, std::memory_order_relaxed);
}

void huge_blocks::withdraw(huge_block& block) noexcept {
    if (!block.is_known) unknown_count_.fetch_sub(1, std::memory_order_relaxed);
    memory_.withdraw(block);
}

/// Requires  the block is in no list.
std::size_t huge_blocks::release(huge_block& block) noexcept {
    const std::size_t bytes = block.mapped_bytes;
    withdraw(block);
    memory_.release(pointer_at(block.mapped), bytes);
    return bytes;
}

std::size_t huge_blocks::release_retained_before(std::uint64_t freed_before_ns) noexcept {
    std::size_t bytes = 0;
    for (huge_block* block = kept_.first; block != nullptr;) {
        huge_block* const next = block->next;
        if (block->freed_at_ns < freed_before_ns) {
            kept_.remove(*block);
            bytes += release(*block);
        }
        block = next;
    }
    if (bytes != 0) learned_limit_bytes_ = 0;
    return bytes;
}

/// Adds room to grow in place. Untouched, it costs only addresses. A limited source or process has none to spare.
std::size_t huge_blocks::with_slack(std::size_t needed) const noexcept {
    const bool has_room = memory_.is_plentiful() && !platform::are_addresses_limited();
    return has_room ? align_up(needed + needed / 4, step_bytes) : needed;
}

/// Resizes a block that is in no list: larger in place or elsewhere, or smaller elsewhere, with its touched pages.
/// Returns   nullptr when that is impossible.
huge_block* huge_blocks::resized(huge_block& block, std::size_t needed) noexcept {
    if (block.mapped != address_of(&block)) return nullptr;
    const std::size_t before = block.mapped_bytes;
    huge_block* moved = &block;
    std::size_t mapped = needed > before ? with_slack(needed) : needed;
    if (mapped < before || !memory_.extend(&block, before, mapped)) {
        withdraw(block);
        moved = static_cast<huge_block*>(memory_.remap(&block, before, mapped));
        if (moved == nullptr && mapped != needed)
            moved = static_cast<huge_block*>(memory_.remap(&block, before, mapped = needed));
        announce(moved != nullptr ? *moved : block);
        if (moved == nullptr) return nullptr;
    }
    moved->mapped = address_of(moved);
    moved->mapped_bytes = mapped;
    return moved;
}

/// Returns the smallest retained block that is large enough and at most half as large again. Otherwise grows the
/// largest retained block that is smaller but at least half the size.
huge_block* huge_blocks::reuse_retained(std::size_t needed) noexcept {
    huge_block* best = nullptr;
    huge_block* largest = nullptr;
    for (huge_block* block = kept_.first; block != nullptr; block = block->next) {
        const bool fits = block->mapped_bytes >= needed && block->mapped_bytes - needed <= needed / 2;
        if (fits && (best == nullptr || block->mapped_bytes < best->mapped_bytes)) best = block;
        const bool is_smaller = block->mapped_bytes < needed && block->mapped_bytes >= needed / 2;
        if (is_smaller && (largest == nullptr || block->mapped_bytes > largest->mapped_bytes)) largest = block;
    }
    if (best != nullptr) {
        kept_.remove(*best);
        return best;
    }
    if (largest == nullptr) return nullptr;
    kept_.remove(*largest);
    make_room(needed); // its growth counts as a new mapping
    huge_block* const larger = resized(*largest, needed);
    if (larger == nullptr) kept_.insert(*largest);
    return larger;
}

/// Releases retained blocks, oldest first, while a new mapping on top of them would exceed the previous peak.
void huge_blocks::make_room(std::size_t mapped) noexcept {
    while (kept_.first != nullptr && live_.mapped_bytes + kept_.mapped_bytes + mapped > peak_mapped_bytes_) {
        huge_block* oldest = kept_.first;
        for (huge_block* block = oldest; block != nullptr; block = block->next) {
            if (block->freed_at_ns < oldest->freed_at_ns) oldest = block;
        }
        kept_.remove(*oldest);
        release(*oldest);
    }
}

huge_block* huge_blocks::map_new(std::size_t needed) noexcept {
    std::size_t mapped = with_slack(needed);
    make_room(mapped);
    void* memory = memory_.acquire(mapped, 1);
    if (memory == nullptr && mapped != needed) memory = memory_.acquire(mapped = needed, 1);
    if (memory == nullptr) return nullptr;
    auto* const head = static_cast<huge_block*>(memory);
    if (!memory_.announce_huge(*head)) {
        memory_.release(memory, mapped);
        return nullptr;
    }
    head->mapped = address_of(memory);
    head->mapped_bytes = mapped;
    head->touched_bytes = 0;
    head->is_known = true;
    return head;
}

/// Maps a block for an alignment above half a segment. The block starts one alignment behind the start of the mapping,
/// and its head is one segment in front of the block.
huge_block* huge_blocks::map_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t lead = std::max(alignment, memory_.segment_bytes());
    const std::size_t mapped = align_up(lead + bytes, step_bytes);
    make_room(mapped);
    void* const memory = memory_.acquire(mapped, alignment);
    if (memory == nullptr) return nullptr;
    auto* const head = static_cast<huge_block*>(pointer_at(address_of(memory) + lead - memory_.segment_bytes()));
    if (!memory_.announce_huge(*head)) {
        memory_.release(memory, mapped);
        return nullptr;
    }
    head->mapped = address_of(memory);
    head->mapped_bytes = mapped;
    head->touched_bytes = 0;
    head->is_known = true;
    head->lead_bytes = lead;
    return head;
}

void* huge_blocks::allocate(std::size_t bytes, std::size_t alignment, std::uint64_t now_ns, contents& found,
                            std::uint16_t tag) noexcept {
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most || !memory_.may_use(bytes)) return nullptr;
    const std::size_t lead = std::max(alignment, least_lead_bytes);
    const bool is_ordinary = alignment <= memory_.segment_bytes() / 2;
    const platform::lock_guard lock(mutex_);
    const std::size_t needed = align_up(lead + bytes, step_bytes);
    huge_block* head = is_ordinary ? reuse_retained(needed) : nullptr;
    if (head == nullptr) learn(needed, now_ns);
    found = head == nullptr && memory_.is_zeroed() ? contents::zero : contents::unknown;
    if (now_ns > how_.time_ns) release_retained_before(now_ns - how_.time_ns);
    if (head == nullptr) head = is_ordinary ? map_new(needed) : map_aligned(bytes, alignment);
    if (head == nullptr && kept_.first != nullptr) { // the limit or the source may have room without them
        release_retained_before(UINT64_MAX);
        head = is_ordinary ? map_new(needed) : map_aligned(bytes, alignment);
    }
    if (head == nullptr) return nullptr;
    if (is_ordinary) head->lead_bytes = lead;
    head->bytes = bytes;
    head->tag = tag;
    head->touched_bytes = std::max(head->touched_bytes, align_up(lead + bytes, unit_bytes));
    live_.insert(*head);
    live_bytes_ += bytes;
    ++live_count_;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    peak_count_ = std::max(peak_count_, live_count_);
    memory_.count_use(bytes);
    peak_mapped_bytes_ = std::max(peak_mapped_bytes_, live_.mapped_bytes + kept_.mapped_bytes);
    return block_in(*head);
}

/// Checks whether the block that the limit released could have served this request. If so, raises the limit for the
/// next.
void huge_blocks::learn(std::size_t needed, std::uint64_t now_ns) noexcept {
    const bool is_like_it = needed >= released_bytes_ / 2 && needed - needed / 3 <= released_bytes_;
    if (released_bytes_ == 0 || !is_like_it || now_ns - released_at_ns_ > how_.time_ns) return;
    learned_limit_bytes_ = std::max(learned_limit_bytes_, kept_with_let_go_ + kept_with_let_go_ / 4);
    released_bytes_ = 0;
}

bool huge_blocks::may_keep(const huge_block& freed, std::uint64_t now_ns) noexcept {
    if (how_.time_ns == 0 || how_.limit_bytes == 0 || freed.mapped != address_of(&freed)) return false;
    const std::size_t kept = kept_.mapped_bytes + freed.mapped_bytes;
    if (kept <= std::max(how_.limit_bytes, learned_limit_bytes_)) return true;
    released_bytes_ = freed.mapped_bytes;
    kept_with_let_go_ = kept;
    released_at_ns_ = now_ns;
    return false;
}

/// Removes a block from the blocks in use, and retains or releases it.
void huge_blocks::free_locked(huge_block& head, std::uint64_t now_ns) noexcept {
    live_.remove(head);
    live_bytes_ -= head.bytes;
    --live_count_;
    memory_.uncount_use(head.bytes);
    head.bytes = 0;
    head.freed_at_ns = now_ns;
    if (!may_keep(head, now_ns)) {
        release(head);
        return;
    }
    kept_.insert(head);
    memory_.note_freed(head.mapped_bytes);
}

freed_block huge_blocks::deallocate(void* block, std::uint64_t now_ns) noexcept {
    huge_block& head = head_of(block);
    {
        const platform::lock_guard lock(mutex_);
        if (head.bytes != 0 && block_in(head) == block) {
            if (now_ns > how_.time_ns) release_retained_before(now_ns - how_.time_ns);
            const freed_block freed{head.tag, head.bytes};
            free_locked(head, now_ns);
            return freed;
        }
    }
    report_misuse("a huge heap block was freed twice, or the pointer is not the start of one", block,
                  "Look for a second owner of this block.");
    return {};
}

void huge_blocks::free_all(std::uint64_t now_ns) noexcept {
    const platform::lock_guard lock(mutex_);
    while (live_.first != nullptr) free_locked(*live_.first, now_ns);
}

bool huge_blocks::resize(void* block, std::size_t bytes) noexcept {
    huge_block& head = head_of(block);
    if (bytes == 0 || bytes > max_object_bytes / 4) return false;
    const std::size_t needed = align_up(head.lead_bytes + bytes, step_bytes);
    const platform::lock_guard lock(mutex_);
    if (bytes > head.bytes && !memory_.may_use(bytes - head.bytes)) return false;
    if (needed > head.mapped_bytes) {
        if (!memory_.extend(pointer_at(head.mapped), head.mapped_bytes, needed)) return false;
        live_.mapped_bytes += needed - head.mapped_bytes;
        head.mapped_bytes = needed;
        peak_mapped_bytes_ = std::max(peak_mapped_bytes_, live_.mapped_bytes + kept_.mapped_bytes);
    }
    const std::size_t needed_before = align_up(head.lead_bytes + head.bytes, step_bytes);
    if (needed < needed_before && memory_.decommit(pointer_at(head.mapped + needed), needed_before - needed))
        head.touched_bytes = std::min(head.touched_bytes, needed);
    head.touched_bytes = std::max(head.touched_bytes, align_up(head.lead_bytes + bytes, unit_bytes));
    memory_.change_use(head.bytes, bytes);
    live_bytes_ += bytes - head.bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    head.bytes = bytes;
    return true;
}

void* huge_blocks::move(void* block, std::size_t bytes) noexcept {
    huge_block& head = head_of(block);
    if (bytes > max_object_bytes / 4) return nullptr;
    const std::size_t needed = align_up(head.lead_bytes + bytes, step_bytes);
    const platform::lock_guard lock(mutex_);
    if (bytes > head.bytes && !memory_.may_use(bytes - head.bytes)) return nullptr;
    live_.remove(head);
    huge_block* const moved = resized(head, needed);
    live_.insert(moved != nullptr ? *moved : head);
    if (moved == nullptr) return nullptr;
    memory_.change_use(moved->bytes, bytes);
    live_bytes_ += bytes - moved->bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    moved->bytes = bytes;
    moved->touched_bytes = std::min(moved->touched_bytes, moved->mapped_bytes);
    moved->touched_bytes = std::max(moved->touched_bytes, align_up(moved->lead_bytes + bytes, unit_bytes));
    peak_mapped_bytes_ = std::max(peak_mapped_bytes_, live_.mapped_bytes + kept_.mapped_bytes);
    return block_in(*moved);
}

// No lock: only the block's owner changes its head.
std::size_t huge_blocks::usable_bytes(const void* block) const noexcept { return usable_in(head_of(block)); }

void huge_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept {
    for (huge_block* block = live_.first; block != nullptr;) {
        huge_block* const next = block->next;
        visit(context, block_in(*block), usable_in(*block));
        block = next;
    }
}

void* huge_blocks::block_of(const void* pointer) const noexcept {
    const platform::lock_guard lock(mutex_);
    for (const huge_block* block = live_.first; block != nullptr; block = block->next) {
        if (address_of(pointer) - block->mapped < block->mapped_bytes) return block_in(*block);
    }
    return nullptr;
}

bool huge_blocks::has_head_locked(const void* pointer) const noexcept {
    void* const at = segment_head::of(pointer, memory_.segment_bytes());
    if (memory_.kind_of(pointer) == head_kind::huge) { // the head stays while the lock is held
        const auto& head = *static_cast<const huge_block*>(at);
        return address_of(pointer) - head.mapped < head.mapped_bytes;
    }
    if (unknown_count_.load(std::memory_order_relaxed) == 0) return false;
    for (const huge_block* first : {live_.first, kept_.first}) {
        for (const huge_block* block = first; block != nullptr; block = block->next) {
            if (block == at) return address_of(pointer) - block->mapped < block->mapped_bytes;
        }
    }
    return false;
}

bool huge_blocks::has_head(const void* pointer) const noexcept {
    const bool may_be =
        memory_.kind_of(pointer) == head_kind::huge || unknown_count_.load(std::memory_order_relaxed) != 0;
    if (!may_be) return false;
    const platform::lock_guard lock(mutex_);
    return has_head_locked(pointer);
}

// No lock: only the block's owner removes or changes its head.
bool huge_blocks::is_known_block(const void* block) const noexcept {
    return memory_.kind_of(pointer_at(address_of(block) - 1)) == head_kind::huge && block_in(head_of(block)) == block;
}

bool huge_blocks::owns(const void* pointer) const noexcept {
    const platform::lock_guard lock(mutex_);
    if (has_head_locked(pointer)) return true;
    for (const huge_block* first : {live_.first, kept_.first}) {
        for (const huge_block* block = first; block != nullptr; block = block->next) {
            if (address_of(pointer) - block->mapped < block->mapped_bytes) return true;
        }
    }
    return false;
}

std::size_t huge_blocks::expire(std::uint64_t now_ns) noexcept {
    const platform::lock_guard lock(mutex_);
    return now_ns > how_.time_ns ? release_retained_before(now_ns - how_.time_ns) : 0;
}

std::size_t huge_blocks::trim() noexcept {
    const platform::lock_guard lock(mutex_);
    return release_retained_before(UINT64_MAX);
}

void huge_blocks::set_purge_policy(purge_policy how) noexcept {
    const platform::lock_guard lock(mutex_);
    how_ = how;
}

std::size_t huge_blocks::live_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_bytes_;
}

std::size_t huge_blocks::live_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_count_;
}

std::size_t huge_blocks::peak_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return peak_count_;
}

std::size_t huge_blocks::peak_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return peak_bytes_;
}

std::size_t huge_blocks::retained_bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return kept_.mapped_bytes;
}

std::size_t huge_blocks::committed_bytes() const noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (const huge_block* first : {live_.first, kept_.first}) {
        for (const huge_block* block = first; block != nullptr; block = block->next) bytes += block->touched_bytes;
    }
    return bytes;
}

std::size_t huge_blocks::resident_bytes() const noexcept {
    std::size_t bytes = 0;
    const platform::lock_guard lock(mutex_);
    for (const huge_block* first : {live_.first, kept_.first}) {
        for (const huge_block* block = first; block != nullptr; block = block->next)
            bytes += platform::resident_bytes_in(pointer_at(block->mapped), block->mapped_bytes);
    }
    return bytes;
}

}
