// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/block_owner.hpp>

#include <atomic>

namespace tenure::inline TENURE_ABI::detail {

namespace {

// Relaxed: the function is constant code of this library.
constinit std::atomic<name_owner_function> name_owner{nullptr};

}

void set_name_owner(name_owner_function function) noexcept { name_owner.store(function, std::memory_order_relaxed); }

std::string_view owner_of_block(const void* block) noexcept {
    const name_owner_function function = name_owner.load(std::memory_order_relaxed);
    return function != nullptr ? function(block) : std::string_view{};
}

}
