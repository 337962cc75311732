// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/engine/passthrough_blocks.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/linked_list.hpp>

namespace tenure::inline TENURE_ABI::detail {

passthrough_blocks::node* passthrough_blocks::node_of(const void* block) noexcept {
    return static_cast<node*>(pointer_at(address_of(block) - sizeof(node)));
}

/// Also of the list: a block of another allocator under passthrough is not taken for one of this list.
std::uintptr_t passthrough_blocks::canary_of(const node* of) const noexcept {
    return address_of(of) ^ (address_of(this) << 8) ^ 0x7E27'0DE7'0B10'C001;
}

void passthrough_blocks::take(passthrough_blocks& other) noexcept {
    first_ = std::exchange(other.first_, nullptr);
    count_ = std::exchange(other.count_, 0);
    peak_count_ = std::exchange(other.peak_count_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    for (node* each = first_; each != nullptr; each = each->next)
        if (each->canary == other.canary_of(each)) each->canary = canary_of(each); // otherwise free_all() reports it
}

void* passthrough_blocks::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t lead = align_up(sizeof(node), std::max(alignment, default_alignment));
    if (bytes > max_object_bytes - lead) return nullptr;
    void* const memory = host::process_allocate(lead + std::max<std::size_t>(bytes, 1), alignment);
    if (memory == nullptr) return nullptr;
    void* const block = pointer_at(address_of(memory) + lead);
    node* const made = new (node_of(block)) node{nullptr, nullptr, memory, bytes, canary_of(node_of(block))};
    const platform::lock_guard lock(mutex_);
    push_front(first_, *made);
    peak_count_ = std::max(peak_count_, ++count_);
    bytes_ += bytes;
    return block;
}

void passthrough_blocks::deallocate(void* block) noexcept {
    node* const freed = node_of(block);
    // For a block that was freed before, this reads freed memory: AddressSanitizer and Valgrind name both frees.
    if (!is_listed(block)) return host::process_deallocate(block);
    {
        const platform::lock_guard lock(mutex_);
        unlink(first_, *freed);
        --count_;
        bytes_ -= freed->bytes;
    }
    freed->canary = 0;
    host::process_deallocate(freed->memory);
}

bool passthrough_blocks::is_listed(const void* block) const noexcept {
    return node_of(block)->canary == canary_of(node_of(block));
}

void passthrough_blocks::free_all() noexcept {
    while (first_ != nullptr) {
        node* const freed = first_;
        first_ = freed->next;
        if (freed->canary != canary_of(freed)) {
            report_misuse("memory in front of a block under passthrough was overwritten", freed + 1,
                          "Look for a write before the start of this block; AddressSanitizer finds it.");
            continue;
        }
        freed->canary = 0;
        host::process_deallocate(freed->memory);
    }
    count_ = bytes_ = 0;
}

std::size_t passthrough_blocks::bytes_of(const void* block) const noexcept { return node_of(block)->bytes; }

bool passthrough_blocks::owns(const void* pointer) const noexcept {
    const platform::lock_guard lock(mutex_);
    for (const node* each = first_; each != nullptr; each = each->next) {
        if (address_of(pointer) - address_of(each + 1) < std::max<std::size_t>(each->bytes, 1)) return true;
    }
    return false;
}

std::size_t passthrough_blocks::count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return count_;
}

std::size_t passthrough_blocks::peak_count() const noexcept {
    const platform::lock_guard lock(mutex_);
    return peak_count_;
}

std::size_t passthrough_blocks::bytes() const noexcept {
    const platform::lock_guard lock(mutex_);
    return bytes_;
}

}
