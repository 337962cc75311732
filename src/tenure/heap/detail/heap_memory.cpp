// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_memory.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/platform/address_map.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// The heads of all segments of all heaps, with their owners: the addresses that may be masked and read. The map is
/// outside the segments, because it is queried for addresses that their heap may be releasing. An odd owner marks the
/// head of a huge block.
constinit platform::address_map known_heads{};
static_assert(alignof(heap_memory) > 1);

[[nodiscard]] void* owner_of_huge(const heap_memory* owner) noexcept { return pointer_at(address_of(owner) + 1); }

}

bool heap_memory::charge_limit(std::size_t bytes) noexcept {
    std::size_t reserved = reserved_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit_bytes_ - reserved) return false;
    } while (!reserved_bytes_.compare_exchange_weak(reserved, reserved + bytes, std::memory_order_relaxed));
    return true;
}

void* heap_memory::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    if (!charge_limit(bytes)) return nullptr;
    const std::size_t whole_alignment = std::max(alignment, segment_bytes_);
    void* memory = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        memory = source_.acquire(bytes, whole_alignment);
        if (!is_aligned(memory, whole_alignment)) [[unlikely]] {
            misaligned_.store(address_of(memory), std::memory_order_relaxed);
            source_.release(memory, bytes);
            memory = nullptr;
        }
    }
    if (memory == nullptr) {
        reserved_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        return nullptr;
    }
    blocks_.fetch_add(1, std::memory_order_relaxed);
    platform::add_leak_root(memory, bytes);
    return memory;
}

void heap_memory::write_misaligned() noexcept {
    const std::uintptr_t at = misaligned_.exchange(0, std::memory_order_relaxed);
    if (at == 0) return; // another thread has reported it
    report_misuse("a heap's block source ignored the alignment that was requested", pointer_at(at),
                  "The block was released. acquire() and remap() of the source must return multiples of `alignment`.");
}

void heap_memory::release(void* memory, std::size_t bytes) noexcept {
    if constexpr (checks::caller) platform::unpoison(memory, bytes);
    platform::remove_leak_root(memory, bytes);
    {
        const platform::lock_guard lock(mutex_);
        source_.release(memory, bytes);
    }
    blocks_.fetch_sub(1, std::memory_order_relaxed);
    reserved_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool heap_memory::extend(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (!charge_limit(new_bytes - old_bytes)) return false;
    const platform::lock_guard lock(mutex_);
    if (!source_.extend(memory, old_bytes, new_bytes)) {
        reserved_bytes_.fetch_sub(new_bytes - old_bytes, std::memory_order_relaxed);
        return false;
    }
    platform::remove_leak_root(memory, old_bytes);
    platform::add_leak_root(memory, new_bytes);
    return true;
}

/// Replaces memory that a source moved to a misaligned address. It cannot stay there, and the old address is gone.
TENURE_COLD void* heap_memory::copy_aligned(void* odd, std::size_t bytes) noexcept {
    misaligned_.store(address_of(odd), std::memory_order_relaxed);
    void* const memory = source_.acquire(bytes, segment_bytes_);
    if (memory == nullptr || !is_aligned(memory, segment_bytes_)) std::abort(); // the contents have no place
    std::memcpy(memory, odd, bytes);
    source_.release(odd, bytes);
    return memory;
}

void* heap_memory::remap(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    const bool grows = new_bytes > old_bytes;
    if (grows && !charge_limit(new_bytes - old_bytes)) return nullptr;
    const platform::lock_guard lock(mutex_);
    platform::remove_leak_root(memory, old_bytes);
    void* moved = source_.remap(memory, old_bytes, new_bytes, segment_bytes_);
    if (!is_aligned(moved, segment_bytes_)) [[unlikely]]
        moved = copy_aligned(moved, new_bytes);
    const bool is_refused = moved == nullptr;
    platform::add_leak_root(is_refused ? memory : moved, is_refused ? old_bytes : new_bytes);
    if (grows && is_refused) reserved_bytes_.fetch_sub(new_bytes - old_bytes, std::memory_order_relaxed);
    if (!grows && !is_refused) reserved_bytes_.fetch_sub(old_bytes - new_bytes, std::memory_order_relaxed);
    return moved;
}

bool heap_memory::decommit(void* part, std::size_t bytes) noexcept {
    const platform::lock_guard lock(mutex_);
    return source_.decommit(part, bytes);
}

void heap_memory::clear(void* part, std::size_t bytes) noexcept {
    constexpr std::size_t step = std::size_t{2} << 20;
    const std::uintptr_t begin = address_of(part);
    const std::uintptr_t first = align_up(begin, step);
    const std::uintptr_t last = align_down(begin + bytes, step);
    if (bytes < 4 * step || !is_zeroed()) {
        std::memset(part, 0, bytes);
        return;
    }
    std::memset(part, 0, first - begin);
    for (std::uintptr_t at = first; at < last; at += step) {
        // Pieces that are hardly resident are decommitted, including their swap: touching a few pages again costs less.
        const bool is_there = platform::resident_bytes_in(pointer_at(at), step) > step / 4;
        if (is_there || !decommit(pointer_at(at), step)) std::memset(pointer_at(at), 0, step);
    }
    std::memset(pointer_at(last), 0, begin + bytes - last);
}

bool heap_memory::is_plentiful() const noexcept {
    return source_.max_bytes() >= max_object_bytes && limit_bytes_ >= max_object_bytes;
}

bool heap_memory::announce(segment_head& head, std::uint8_t class_of_all) noexcept {
    std::memset(head.class_of_slice, class_of_all, sizeof head.class_of_slice);
    return known_heads.set(&head, class_of_all == huge_class ? owner_of_huge(this) : this);
}

void heap_memory::withdraw(segment_head& head) noexcept { known_heads.erase(&head); }

head_kind heap_memory::kind_of(const void* pointer) const noexcept {
    const void* const owner = known_heads.get(segment_head::of(pointer, segment_bytes_));
    if (owner == this) return head_kind::segment;
    return owner == owner_of_huge(this) ? head_kind::huge : head_kind::none;
}

void heap_memory::count_use(std::size_t bytes) noexcept {
    const std::size_t now = in_use_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
}

}
