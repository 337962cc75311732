// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A list of the malloc blocks that a heap under passthrough has allocated, so that it can still walk and clear them.
/// Private to this room.

#include <cstddef>

#include <tenure/base/config.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   any; one lock per call.
class passthrough_blocks {
public:
    constexpr passthrough_blocks() noexcept = default;
    ~passthrough_blocks() { free_all(); }
    passthrough_blocks(const passthrough_blocks&) = delete;
    passthrough_blocks& operator=(const passthrough_blocks&) = delete;

    /// Requires  `alignment` is a power of two.
    /// Returns   nullptr when malloc fails.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    /// Frees a block. Any other pointer goes to malloc's free unchanged, so that malloc's checks and tools report it.
    void deallocate(void* block) noexcept;
    void free_all() noexcept;

    [[nodiscard]] std::size_t bytes_of(const void* block) const noexcept;
    /// Whether the pointer is inside a block.
    /// Cost      O(blocks).
    [[nodiscard]] bool owns(const void* pointer) const noexcept;
    /// Requires  no other thread uses the heap meanwhile.
    void for_each(void (*visit)(void* context, void* block, std::size_t bytes), void* context) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] platform::mutex& mutex() const noexcept { return mutex_; }

private:
    struct node;
    [[nodiscard]] static node* node_of(const void* block) noexcept;

    mutable platform::mutex mutex_; ///< guards everything below
    node* first_ = nullptr;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

}
