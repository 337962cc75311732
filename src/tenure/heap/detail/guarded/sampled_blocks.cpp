// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/guarded/sampled_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/heap_core.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// Released with the area and its table; the fault handler and may_begin() acquire it.
constinit std::atomic<const sampled_blocks*> sampled_of_process{nullptr};

bool report_fault_of_process(const platform::fault& what) noexcept {
    return sampled_of_process.load(std::memory_order_acquire)->report_fault(what);
}

}

bool sampled_blocks::draw(thread_cache& cache) noexcept {
    if (cache.tag != 0) { // guarded blocks carry no tag
        cache.bytes_to_sample = sample_schedule::never;
        return false;
    }
    if (!host::has_environment()) { // options cannot be read yet
        cache.bytes_to_sample = sample_schedule::least_mean_bytes;
        return false;
    }
    const bool is_first = !cache.has_drawn;
    cache.has_drawn = true;
    cache.bytes_to_sample = sample_schedule::draw(live_count());
    if (!sample_schedule::is_on()) return false;
    if (is_first && cache.bytes_to_sample != 0) return false; // the thread has only just begun
    return live_count() < max_live && schedule_.is_rested() && may_begin();
}

/// Small processes do not reserve the area.
bool sampled_blocks::may_begin() const noexcept {
    constexpr std::size_t small_process_bytes = std::size_t{256} * 1024;
    constexpr std::size_t short_of_addresses = std::size_t{1} << 30;
    if (sampled_of_process.load(std::memory_order_acquire) == this) return true;
    if (is_refused_ || memory_.segment_bytes() != max_segment_bytes) return false;
    if (platform::address_limit_bytes() < short_of_addresses) return false;
    const bool is_for_tests = option_value(option::heap_guard_bytes) < sample_schedule::least_mean_bytes;
    return is_for_tests || memory_.peak_bytes() >= small_process_bytes;
}

/// Requires  the lock.
bool sampled_blocks::reserve() noexcept {
    if (begin_ != 0) return true;
    if (is_refused_) return false;
    void* const area = platform::reserve(max_segment_bytes, max_segment_bytes);
    if (area == nullptr) {
        is_refused_ = true;
        return false;
    }
    auto* const head = static_cast<segment_head*>(area);
    void* const records = pointer_at(address_of(area) + first_table_page * page());
    if (!platform::commit(head, page()) || !platform::commit(records, table_pages() * page()) ||
        !memory_.announce_area(*head, guarded_class)) {
        platform::unreserve(area, max_segment_bytes);
        is_refused_ = true;
        return false;
    }
    begin_ = address_of(area);
    table_ = static_cast<table*>(records); // pages are zeroed
    sampled_of_process.store(this, std::memory_order_release);
    (void)platform::on_fault(&report_fault_of_process); // without it, a fault ends the process without a report
    return true;
}

bool sampled_blocks::is_for_use(std::size_t index, room wanted) const noexcept {
    const std::size_t number = table_->record_of_page[index];
    if (number == 0) return true;
    return wanted == room::unused_or_freed && table_->records[number - 1].is == state::freed;
}

/// Finds free pages with a free page in front and behind: the guard pages, which neighbours share.
/// Requires  the lock.
/// Returns   the index of the first of the `count` pages, a multiple of `step`; zero if there are none.
std::size_t sampled_blocks::find_pages(std::size_t count, std::size_t step, room wanted) const noexcept {
    // Short blocks share a few MiB, so that the system needs few page tables for them.
    constexpr std::size_t few_pages = 4, pages_for_short = 1024;
    const auto find_between = [&](std::size_t begin, std::size_t end) -> std::size_t {
        std::size_t free_count = 0;
        for (std::size_t index = begin; index < end; ++index) {
            free_count = is_for_use(index, wanted) ? free_count + 1 : 0;
            const std::size_t first = index - count;
            if (free_count >= count + 2 && first % step == 0) return first;
        }
        return 0;
    };
    const std::size_t front = first_block_page() - 1; // a guard page
    const std::size_t width = (count <= few_pages ? std::min(pages_for_short, page_count()) : page_count()) - front;
    const std::size_t begin = front + sample_schedule::random() % width;
    const std::size_t behind = find_between(begin, page_count());
    return behind != 0 ? behind : find_between(front, std::min(begin + count + 1, page_count()));
}

/// Finds pages as find_pages(), among those of freed blocks too, and forgets the blocks that are in the way.
/// Requires  the lock.
std::size_t sampled_blocks::make_room(std::size_t count, std::size_t step) noexcept {
    const std::size_t first = find_pages(count, step, room::unused_or_freed);
    for (std::size_t index = first - 1; first != 0 && index <= first + count; ++index) {
        const std::size_t number = table_->record_of_page[index];
        if (number != 0) evict(table_->records[number - 1]);
    }
    return first;
}

/// Requires  the lock.
sampled_blocks::record* sampled_blocks::unused_record() noexcept {
    for (record& each : table_->records) {
        if (each.is == state::unused) return &each;
    }
    return evict_oldest();
}

/// Forgets the block that was freed first.
/// Requires  the lock.
/// Returns   nullptr if none is in quarantine.
sampled_blocks::record* sampled_blocks::evict_oldest() noexcept {
    record* oldest = nullptr;
    for (record& each : table_->records) {
        const bool is_older = oldest == nullptr || each.freed_in_turn < oldest->freed_in_turn;
        if (each.is == state::freed && is_older) oldest = &each;
    }
    if (oldest != nullptr) evict(*oldest);
    return oldest;
}

/// Requires  the lock, and a freed block.
void sampled_blocks::evict(record& freed) noexcept {
    std::memset(table_->record_of_page + freed.first_page, 0, freed.pages);
    freed.is = state::unused;
}

void* sampled_blocks::allocate(std::size_t bytes, std::size_t alignment, fill how) noexcept {
    if (bytes > max_bytes || alignment > max_bytes) return nullptr;
    call_trace here;
    here.capture();
    const std::size_t pages = align_up(bytes, page()) / page();
    const std::size_t step = std::max(alignment, page()) / page();
    const platform::lock_guard lock(mutex_);
    if (!reserve() || live_count() >= max_live || !memory_.may_use(pages * page())) return nullptr;
    std::size_t first = find_pages(pages, step, room::unused);
    if (first == 0) first = make_room(pages, step);
    record* const fresh = first != 0 ? unused_record() : nullptr;
    if (fresh == nullptr) return nullptr;
    const std::uintptr_t begin = address_of_page(first);
    const std::uintptr_t end = begin + pages * page();
    // This fails at the system's limit on mappings.
    if (!platform::commit(pointer_at(begin), end - begin)) return nullptr;
    const bool is_at_begin = step != 1 || (sample_schedule::random() & 1) != 0;
    const std::uintptr_t block = is_at_begin ? begin : align_down(end - bytes, alignment);
    std::memset(pointer_at(begin), guard_fill, block - begin);
    std::memset(pointer_at(block + bytes), guard_fill, end - block - bytes);
    if (how == fill::zero && !is_sealed_) std::memset(pointer_at(block), 0, bytes);
    platform::add_leak_root(pointer_at(begin), end - begin);
    std::memset(table_->record_of_page + first, static_cast<int>(fresh - table_->records) + 1, pages);
    *fresh = {block,       bytes, 0, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(pages),
              state::live, here,  {}};
    live_count_.fetch_add(1, std::memory_order_relaxed);
    live_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    memory_.count_use(pages * page());
    schedule_.begin_rest(pages);
    return pointer_at(block);
}

/// Requires  the lock, and a live block.
void sampled_blocks::release(record& freed) noexcept {
    void* const begin = pointer_at(address_of_page(freed.first_page));
    platform::remove_leak_root(begin, freed.pages * page());
    // This fails if the program has locked its memory, and at the system's limit on mappings. A use after free of the
    // block is then missed, a double free is not.
    if (!platform::seal(begin, freed.pages * page())) is_sealed_ = false;
    freed.is = state::freed;
    freed.freed_in_turn = ++turns_;
    live_count_.fetch_sub(1, std::memory_order_relaxed);
    live_bytes_.fetch_sub(freed.bytes, std::memory_order_relaxed);
    memory_.uncount_use(freed.pages * page());
}

/// The record of the page that an address is in; nullptr for guard pages and unused ones.
sampled_blocks::record* sampled_blocks::record_at(std::uintptr_t address) const noexcept {
    const std::uintptr_t offset = address - begin_;
    const std::size_t number =
        table_ != nullptr && offset < max_segment_bytes ? table_->record_of_page[offset / page()] : 0;
    return number != 0 ? &table_->records[number - 1] : nullptr;
}

std::size_t sampled_blocks::bytes_of(const void* block) const noexcept {
    const platform::lock_guard lock(mutex_);
    const record* const found = record_at(address_of(block));
    return found != nullptr && found->is == state::live && found->block == address_of(block) ? found->bytes : 0;
}

void sampled_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                              void* context) const noexcept {
    for (std::size_t index = 0; table_ != nullptr && index < record_count; ++index) {
        const record& each = table_->records[index];
        if (each.is == state::live) visit(context, pointer_at(each.block), each.bytes);
    }
}

void sampled_blocks::free_all() noexcept {
    const platform::lock_guard lock(mutex_);
    for (std::size_t index = 0; table_ != nullptr && index < record_count; ++index) {
        record& each = table_->records[index];
        if (each.is == state::live) release(each);
    }
}

bool sampled_blocks::valid() const noexcept {
    const platform::lock_guard lock(mutex_);
    if (table_ == nullptr) return live_count() == 0;
    std::size_t count = 0, bytes = 0, pages = 0;
    for (const record& each : table_->records) {
        if (each.is == state::unused) continue;
        const auto number = static_cast<std::size_t>(&each - table_->records) + 1;
        const std::uintptr_t begin = address_of_page(each.first_page);
        if (each.block < begin || each.end() > begin + each.pages * page()) return false;
        for (std::size_t index = 0; index < each.pages; ++index) {
            if (table_->record_of_page[each.first_page + index] != number) return false;
        }
        const bool is_guarded = table_->record_of_page[each.first_page - 1] == 0 &&
                                table_->record_of_page[each.first_page + each.pages] == 0;
        if (!is_guarded) return false;
        pages += each.pages;
        count += std::size_t{each.is == state::live};
        if (each.is == state::live) bytes += each.bytes;
    }
    const auto owned = std::ranges::count_if(table_->record_of_page, [](std::uint8_t number) { return number != 0; });
    return count == live_count() && bytes == live_bytes() && static_cast<std::size_t>(owned) == pages;
}

}
