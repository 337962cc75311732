// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/range_table.hpp>

#include <bit>

namespace tenure::inline TENURE_ABI::platform {

// Open addressing with linear probing, at most half full.

std::size_t range_table::place_of(std::uintptr_t begin) const noexcept {
    constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>((begin >> 16) * odd >> (64 - std::countr_zero(capacity_)));
}

counted_range* range_table::find(std::uintptr_t begin) noexcept {
    if (capacity_ == 0) return nullptr;
    for (std::size_t at = place_of(begin); ranges_[at].begin != 0; at = (at + 1) & (capacity_ - 1)) {
        if (ranges_[at].begin == begin) return &ranges_[at];
    }
    return nullptr;
}

void range_table::insert(const counted_range& added) noexcept {
    std::size_t at = place_of(added.begin);
    while (ranges_[at].begin != 0) at = (at + 1) & (capacity_ - 1);
    ranges_[at] = added;
}

/// Moves up the ranges that were put behind this one because its place was taken.
void range_table::remove(counted_range& gone) noexcept {
    auto hole = static_cast<std::size_t>(&gone - ranges_);
    for (std::size_t at = (hole + 1) & (capacity_ - 1); ranges_[at].begin != 0; at = (at + 1) & (capacity_ - 1)) {
        const std::size_t wanted = place_of(ranges_[at].begin);
        if (((at - wanted) & (capacity_ - 1)) < ((at - hole) & (capacity_ - 1))) continue;
        ranges_[hole] = ranges_[at];
        hole = at;
    }
    ranges_[hole] = {};
    --count_;
}

bool range_table::grow() noexcept {
    constexpr std::size_t first_capacity = 128;
    const std::size_t wanted = capacity_ == 0 ? first_capacity : 2 * capacity_;
    auto* const fresh = static_cast<counted_range*>(
        ::VirtualAlloc(nullptr, wanted * sizeof(counted_range), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    if (fresh == nullptr) return false;
    counted_range* const before = ranges_;
    const std::size_t capacity_before = capacity_;
    ranges_ = fresh; // pages come zeroed
    capacity_ = wanted;
    for (std::size_t at = 0; at < capacity_before; ++at) {
        if (before[at].begin != 0) insert(before[at]);
    }
    if (before != nullptr) ::VirtualFree(before, 0, MEM_RELEASE);
    return true;
}

bool range_table::put(const counted_range& added) noexcept {
    const exclusive lock(lock_);
    if (2 * (count_ + 1) > capacity_ && !grow()) return false;
    insert(added);
    ++count_;
    return true;
}

}
