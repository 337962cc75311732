// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "observe/tracer/record/token_map.hpp"

#include "observe/blocks/interpose/errno_scope.hpp"
#include "observe/tracer/record/address_limit.hpp"

namespace tenure::lab::tracer {

token_map::slot* token_map::make_leaf(const void* block) noexcept {
    const std::uintptr_t at = address_of(block);
    if (at / leaf_bytes >= leaf_count) return nullptr;
    const blocks::errno_scope errors;
    if (!may_take_addresses(sizeof(leaf))) return nullptr;
    void* const memory = platform::map(sizeof(leaf), platform::page_bytes());
    if (memory == nullptr) {
        return_addresses(sizeof(leaf));
        return nullptr;
    }
    static_cast<void>(platform::exclude_from_fork(memory, sizeof(leaf)));
    leaf* found = nullptr;
    auto& place = leaves_[is_odd(at)][at / leaf_bytes];
    if (!place.compare_exchange_strong(found, static_cast<leaf*>(memory), std::memory_order_acq_rel)) {
        platform::unreserve(memory, sizeof(leaf)); // another thread was first
        return_addresses(sizeof(leaf));
    }
    return find(block);
}

}
