// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/passthrough_list.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

std::uintptr_t canary_of(const void* node) noexcept { return address_of(node) ^ 0x7E27'0DE7'0B10'C000; }

}

// The link is at the front of the memory from malloc; the block follows at an offset of one alignment (at least 32
// bytes).

void* passthrough_list::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const lead = lead_bytes(alignment);
    if (bytes > max_object_bytes - 2 * lead) return nullptr;
    void* const memory = std::aligned_alloc(lead, align_up(lead + bytes, lead));
    if (memory == nullptr) return nullptr;
    auto* const node = new (memory) link{first_, nullptr, canary_of(memory)};
    if (first_ != nullptr) first_->previous = node;
    first_ = node;
    peak_count_ = std::max(peak_count_, ++count_);
    return block_of(node, alignment);
}

void passthrough_list::deallocate(void* block, std::size_t alignment) noexcept {
    auto* const node = static_cast<link*>(pointer_at(address_of(block) - lead_bytes(alignment)));
    // If the block was freed before, this reads freed memory: AddressSanitizer and Valgrind then report both frees.
    if (node->canary != canary_of(node)) {
        if constexpr (checks::caller) {
            report_misuse("an allocator under passthrough was asked to free a block that is not its own, or was freed "
                          "before",
                          block, "Look for a second owner, or find the first free with AddressSanitizer or Valgrind.");
            return;
        }
        return std::free(node); // NOLINT: malloc's own checks detect it
    }
    node->canary = 0;
    (node->previous != nullptr ? node->previous->next : first_) = node->next;
    if (node->next != nullptr) node->next->previous = node->previous;
    --count_;
    std::free(node); // NOLINT(cppcoreguidelines-no-malloc): from aligned_alloc above
}

void passthrough_list::deallocate_all(std::size_t alignment) noexcept {
    for_each(alignment, [&](void* block) { deallocate(block, alignment); });
}

bool passthrough_list::contains(const void* pointer, std::size_t bytes, std::size_t alignment) const noexcept {
    bool found = false;
    for_each(alignment, [&](void* block) { found = found || address_of(pointer) - address_of(block) < bytes; });
    return found;
}

}
