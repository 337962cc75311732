// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/passthrough_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// The header directly in front of each block.
struct passthrough_blocks::node {
    node* next;
    node* previous;
    void* memory; ///< as returned by malloc
    std::size_t bytes;
    std::uintptr_t canary; ///< marks a block of this list that is in use
};

namespace {

std::uintptr_t canary_of(const void* node) noexcept { return address_of(node) ^ 0x7E27'0DE7'0B10'C001; }

}

passthrough_blocks::node* passthrough_blocks::node_of(const void* block) noexcept {
    return static_cast<node*>(pointer_at(address_of(block) - sizeof(node)));
}

void* passthrough_blocks::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const lead = align_up(sizeof(node), std::max(alignment, default_alignment));
    void* const memory = host::process_allocate(lead + std::max<std::size_t>(bytes, 1), alignment);
    if (memory == nullptr) return nullptr;
    void* const block = pointer_at(address_of(memory) + lead);
    node* const made = new (node_of(block)) node{nullptr, nullptr, memory, bytes, canary_of(node_of(block))};
    platform::lock_guard const lock(mutex_);
    made->next = first_;
    if (first_ != nullptr) first_->previous = made;
    first_ = made;
    ++count_;
    bytes_ += bytes;
    return block;
}

void passthrough_blocks::deallocate(void* block) noexcept {
    node* const freed = node_of(block);
    // For a block that was freed before, this reads freed memory: AddressSanitizer and Valgrind name both frees.
    if (freed->canary != canary_of(freed)) return host::process_deallocate(block);
    {
        platform::lock_guard const lock(mutex_);
        (freed->previous != nullptr ? freed->previous->next : first_) = freed->next;
        if (freed->next != nullptr) freed->next->previous = freed->previous;
        --count_;
        bytes_ -= freed->bytes;
    }
    freed->canary = 0;
    host::process_deallocate(freed->memory);
}

void passthrough_blocks::free_all() noexcept {
    while (first_ != nullptr) deallocate(static_cast<void*>(first_ + 1));
}

std::size_t passthrough_blocks::bytes_of(const void* block) const noexcept { return node_of(block)->bytes; }

bool passthrough_blocks::owns(const void* pointer) const noexcept {
    platform::lock_guard const lock(mutex_);
    for (node const* each = first_; each != nullptr; each = each->next) {
        if (address_of(pointer) - address_of(each + 1) < std::max<std::size_t>(each->bytes, 1)) return true;
    }
    return false;
}

void passthrough_blocks::for_each(void (*visit)(void* context, void* block, std::size_t bytes),
                                  void* context) const noexcept {
    for (node* each = first_; each != nullptr;) {
        node* const next = each->next;
        visit(context, each + 1, each->bytes);
        each = next;
    }
}

std::size_t passthrough_blocks::count() const noexcept {
    platform::lock_guard const lock(mutex_);
    return count_;
}

std::size_t passthrough_blocks::bytes() const noexcept {
    platform::lock_guard const lock(mutex_);
    return bytes_;
}

}
