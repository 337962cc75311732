// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Blocks of the process's malloc, linked in a list, so that an allocator under passthrough can still free and visit
/// all of them.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Threads   one at a time.
class passthrough_list {
public:
    constexpr passthrough_list() noexcept = default;
    passthrough_list(const passthrough_list&) = delete;
    passthrough_list& operator=(const passthrough_list&) = delete;

    /// Requires  `alignment` is a power of two. Returns nullptr when malloc fails.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
    /// Requires  `alignment` is the one passed to allocate(). A pointer that is not a block of a list is reported in
    ///           checked builds; otherwise it goes to free() unchanged, so that malloc's own checks and tools detect
    ///           it.
    void deallocate(void* block, std::size_t alignment) noexcept;
    void deallocate_all(std::size_t alignment) noexcept;

    /// Whether the pointer is inside one of the blocks, all of which have `bytes` bytes. Cost      O(blocks).
    [[nodiscard]] bool contains(const void* pointer, std::size_t bytes, std::size_t alignment) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t peak_count() const noexcept { return peak_count_; }

    /// Calls `visit(block)` for each block, newest first; a visit may deallocate its own block.
    template<class Visit>
    void for_each(std::size_t alignment, Visit&& visit) const {
        for (link* node = first_; node != nullptr;) {
            link* const next = node->next;
            visit(block_of(node, alignment));
            node = next;
        }
    }

private:
    struct link {
        link* next;
        link* previous;
        std::uintptr_t canary; // identifies an allocated block of ours
    };
    [[nodiscard]] static std::size_t lead_bytes(std::size_t alignment) noexcept {
        constexpr std::size_t smallest = 32; // a power of two, for a link
        static_assert(sizeof(link) <= smallest);
        return alignment > smallest ? alignment : smallest;
    }
    [[nodiscard]] static void* block_of(link* node, std::size_t alignment) noexcept {
        return reinterpret_cast<unsigned char*>(node) + lead_bytes(alignment);
    }

    link* first_ = nullptr;
    std::size_t count_ = 0;
    std::size_t peak_count_ = 0;
};

}
