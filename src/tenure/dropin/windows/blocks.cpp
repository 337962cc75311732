// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Blocks of the process heap in the forms that the C runtimes of Windows have.

#include <algorithm>
#include <cstring>

#include <tenure/dropin/windows/detail/c_runtime.hpp>
#include <tenure/platform/windows/ending.hpp>

namespace tenure::inline TENURE_ABI::dropin {

bool is_too_late() noexcept { return platform::is_process_ending(); }

void* reallocate_ours(void* block, std::size_t bytes) noexcept {
    const std::size_t room = heap::process().usable_size(block);
    if (bytes <= room && bytes >= room / 2) return block;
    if (is_too_late()) return bytes <= room ? block : nullptr;
    void* const moved = detail::process_reallocate(block, bytes);
    start_wanted_background(nullptr);
    return moved;
}

void clear_from(void* block, std::size_t begin) noexcept {
    constexpr std::size_t max_slack = std::size_t{64} * 1024; // more than that is not touched for nothing
    const std::size_t room = heap::process().usable_size(block);
    if (room > begin) std::memset(static_cast<char*>(block) + begin, 0, std::min(room - begin, max_slack));
}

void* allocate_aligned_inside(const aligned_request& wanted, detail::fill how) noexcept {
    const std::size_t alignment = std::max(wanted.alignment, sizeof(void*));
    const std::size_t more = alignment + 2 * sizeof(void*);
    if (wanted.bytes > max_object_bytes || alignment > max_object_bytes / 4) return nullptr;
    void* const block = how == detail::fill::zero ? allocate_zeroed_slow(wanted.bytes + more, default_alignment)
                                                  : allocate<default_alignment>(wanted.bytes + more);
    if (block == nullptr) return nullptr;
    if (how == detail::fill::zero) clear_from(block, wanted.bytes + more);
    const std::uintptr_t least = address_of(block) + sizeof(void*);
    void* const aligned = pointer_at(align_up(least + wanted.offset, alignment) - wanted.offset);
    malloc_block_of(aligned) = block;
    return aligned;
}

std::size_t aligned_bytes(void* aligned) noexcept {
    void* const block = malloc_block_of(aligned);
    return heap::process().usable_size(block) - (address_of(aligned) - address_of(block));
}

// The bytes behind the old ones read as zero if they are to: what is new is.
void* reallocate_aligned_inside(void* aligned, const aligned_request& wanted, detail::fill how) noexcept {
    const std::size_t room = aligned_bytes(aligned);
    const bool is_aligned_so = is_aligned(pointer_at(address_of(aligned) + wanted.offset), wanted.alignment);
    if (is_aligned_so && wanted.bytes <= room && wanted.bytes >= room / 2) return aligned;
    void* const moved = allocate_aligned_inside(wanted, how);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, aligned, std::min(room, wanted.bytes));
    deallocate(malloc_block_of(aligned));
    return moved;
}

}
