// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/address_map.hpp>

#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::platform {

address_map::leaf* address_map::make_leaf(std::size_t index) noexcept {
    const std::size_t bytes = align_up(sizeof(leaf), page_bytes());
    auto* const fresh = static_cast<leaf*>(map(bytes, cache_line_bytes)); // pages come zeroed
    if (fresh == nullptr) return nullptr;
    // Release for get(). Acquire for the failure: the leaf of another thread is used next.
    leaf* present = nullptr;
    if (leaves_[index].compare_exchange_strong(present, fresh, std::memory_order_acq_rel)) return fresh;
    unreserve(fresh, bytes); // another thread has set it first
    return present;
}

bool address_map::set(const void* address, void* owner) noexcept {
    const std::size_t piece = address_of(address) / piece_bytes;
    if (piece / leaf_pieces >= leaf_count) return false;
    leaf* found = leaves_[piece / leaf_pieces].load(std::memory_order_acquire);
    if (found == nullptr) found = make_leaf(piece / leaf_pieces);
    if (found == nullptr) return false;
    found->owners[piece % leaf_pieces].store(owner, std::memory_order_release);
    return true;
}

void address_map::erase(const void* address) noexcept {
    const std::size_t piece = address_of(address) / piece_bytes;
    if (piece / leaf_pieces >= leaf_count) return;
    leaf* const found = leaves_[piece / leaf_pieces].load(std::memory_order_acquire);
    if (found != nullptr) found->owners[piece % leaf_pieces].store(nullptr, std::memory_order_release);
}

}
