// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The malloc blocks of an allocator under passthrough, listed so that it can visit and free all of them.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; one lock per call.
class passthrough_blocks {
public:
    constexpr passthrough_blocks() noexcept = default;
    ~passthrough_blocks() { free_all(); }
    passthrough_blocks(passthrough_blocks&& other) noexcept { take(other); }
    passthrough_blocks(const passthrough_blocks&) = delete;
    passthrough_blocks& operator=(const passthrough_blocks&) = delete;

    /// Takes over the blocks of a list, which is empty afterwards. Requires  this list is empty, and no other thread
    /// uses either. Cost      O(blocks).
    void take(passthrough_blocks& other) noexcept;

    /// Requires  `alignment` is a power of two.
    /// Returns   nullptr when malloc fails.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    /// Frees a block. Any other pointer goes to malloc's free unchanged, so that malloc's checks and tools report it.
    void deallocate(void* block) noexcept;
    /// Frees every block. A block whose header was overwritten is reported and left alone.
    void free_all() noexcept;
    /// Whether the pointer is a block of this list. Reads the memory in front of it.
    /// Requires  the pointer came from this list or from another allocator of the process.
    [[nodiscard]] bool is_listed(const void* block) const noexcept;

    [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;
    /// Whether the pointer is inside a block.
    /// Cost      O(blocks).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    /// Calls `visit(block, bytes)` for each block, newest first. A visit may deallocate its own block.
    /// Requires  no other thread uses the list meanwhile.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (node* each = first_; each != nullptr;) {
            node* const next = each->next;
            visit(static_cast<void*>(each + 1), each->bytes);
            each = next;
        }
    }
    /// The newest block, and the next older one; nullptr when there is none. Requires  as for_each().
    [[nodiscard]] void* first() const noexcept { return first_ != nullptr ? first_ + 1 : nullptr; }
    [[nodiscard]] static void* next(const void* block) noexcept {
        node* const after = node_of(block)->next;
        return after != nullptr ? after + 1 : nullptr;
    }
    [[nodiscard]] std::size_t count() const noexcept;
    [[nodiscard]] std::size_t peak_count() const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    friend struct heap_layout; // for debuggers: debug_layout.hpp
    friend struct pool_layout;
    /// The header directly in front of each block.
    struct node {
        node* next;
        node* previous;
        void* memory; ///< as returned by malloc
        std::size_t bytes;
        std::uintptr_t canary; ///< marks a block of this list that is in use
    };
    [[nodiscard]] TENURE_API static node* node_of(const void* block) noexcept;
    [[nodiscard]] std::uintptr_t canary_of(const node* of) const noexcept;

    mutable platform::mutex mutex_; ///< guards everything below
    node* first_ = nullptr;
    std::size_t count_ = 0;
    std::size_t peak_count_ = 0;
    std::size_t bytes_ = 0;
};

}
