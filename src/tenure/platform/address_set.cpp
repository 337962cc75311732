// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/address_set.hpp>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

address_set::place address_set::place_of(const void* address) noexcept {
    std::size_t const piece = address_of(address) / piece_bytes;
    return {piece / leaf_pieces, piece % leaf_pieces / 64, std::uint64_t{1} << (piece % 64)};
}

address_set::leaf* address_set::make_leaf(std::size_t index) noexcept {
    std::size_t const bytes = align_up(sizeof(leaf), page_bytes());
    auto* const fresh = static_cast<leaf*>(map(bytes, cache_line_bytes)); // pages come zeroed
    if (fresh == nullptr) return nullptr;
    leaf* present = nullptr;
    if (leaves_[index].compare_exchange_strong(present, fresh, std::memory_order_acq_rel)) return fresh;
    unreserve(fresh, bytes); // another thread was first
    return present;
}

bool address_set::insert(const void* address) noexcept {
    place const where = place_of(address);
    if (where.leaf >= leaf_count) return false;
    leaf* found = leaves_[where.leaf].load(std::memory_order_acquire);
    if (found == nullptr) found = make_leaf(where.leaf);
    if (found == nullptr) return false;
    found->words[where.word].fetch_or(where.bit, std::memory_order_release);
    return true;
}

void address_set::erase(const void* address) noexcept {
    place const where = place_of(address);
    if (where.leaf >= leaf_count) return;
    leaf* const found = leaves_[where.leaf].load(std::memory_order_acquire);
    if (found != nullptr) found->words[where.word].fetch_and(~where.bit, std::memory_order_release);
}

bool address_set::contains(const void* address) const noexcept {
    place const where = place_of(address);
    if (where.leaf >= leaf_count) return false;
    leaf const* const found = leaves_[where.leaf].load(std::memory_order_acquire);
    return found != nullptr && (found->words[where.word].load(std::memory_order_acquire) & where.bit) != 0;
}

}
