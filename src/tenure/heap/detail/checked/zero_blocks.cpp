// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/zero_blocks.hpp>

#include <atomic>

#include <tenure/heap/detail/checked/record_memory.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

constexpr std::size_t word_count = zero_blocks::block_count / bits_per_word;
constexpr std::size_t bits_bytes = word_count * sizeof(bit_word);

}

zero_blocks::~zero_blocks() {
    const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == 0) return;
    platform::unreserve(pointer_at(begin), range_bytes);
    unmap_records(used_, bits_bytes);
}

/// Requires  the lock.
bool zero_blocks::reserve() noexcept {
    if (begin_.load(std::memory_order_relaxed) != 0) return true;
    void* const range = platform::reserve(range_bytes, default_alignment);
    if (range == nullptr) return false;
    used_ = static_cast<bit_word*>(map_records(bits_bytes));
    if (used_ == nullptr) {
        platform::unreserve(range, range_bytes);
        return false;
    }
    begin_.store(address_of(range), std::memory_order_release);
    return true;
}

void* zero_blocks::allocate() noexcept {
    const platform::lock_guard lock(mutex_);
    if (live_count_ == block_count || !reserve()) return nullptr;
    while (used_[next_] == ~bit_word{0}) next_ = (next_ + 1) % word_count;
    const std::size_t bit = lowest_bit(~used_[next_]);
    used_[next_] |= bit_at(bit);
    ++live_count_;
    const std::size_t index = next_ * bits_per_word + bit;
    next_ = (next_ + 1) % word_count;
    return pointer_at(begin_.load(std::memory_order_relaxed) + index * default_alignment);
}

bool zero_blocks::is_live(const void* block) const noexcept {
    const platform::lock_guard lock(mutex_);
    const std::size_t index = index_of(block);
    return is_aligned(block, default_alignment) && (used_[index / bits_per_word] & bit_at(index)) != 0;
}

bool zero_blocks::deallocate(const void* block) noexcept {
    if (!is_live(block)) return false;
    const platform::lock_guard lock(mutex_);
    const std::size_t index = index_of(block);
    if ((used_[index / bits_per_word] & bit_at(index)) == 0) return false; // another thread was faster
    used_[index / bits_per_word] &= ~bit_at(index);
    --live_count_;
    return true;
}

std::size_t zero_blocks::live_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return live_count_;
}

}
