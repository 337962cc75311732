// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_core.hpp>

#include <algorithm>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/host.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/heap/detail/checked/block_guard.hpp>
#include <tenure/heap/detail/profile/heap_samples.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/resident.hpp>

// Resizing of blocks: in place, by moving their pages, or by a copy.

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// Whether less than half of a block is resident, so that a full copy would take far more memory than the block has.
[[nodiscard]] bool is_sparse(const void* block, std::size_t bytes) noexcept {
    constexpr std::size_t least_looked_at = std::size_t{256} * 1024; // below, the query costs more than it saves
    return bytes >= least_looked_at && platform::resident_bytes_in(block, bytes) < bytes / 2;
}

[[nodiscard]] bool is_zero(const unsigned char* bytes, std::size_t count) noexcept {
    return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

/// Copies the parts that are not zero. A page that is not resident may be in swap or in a file, so only reading it
/// shows its contents. Reading a page that was never touched takes no memory.
/// Requires  the target is zero.
void copy_sparse(void* to, const void* from, std::size_t bytes) noexcept {
    auto* const target = static_cast<unsigned char*>(to);
    const auto* const source = static_cast<const unsigned char*>(from);
    const auto copy_absent = [&](std::size_t at, std::size_t end) {
        for (std::size_t part = 0; at < end; at += part) {
            part = std::min(end - at, unit_bytes - (address_of(source + at) & (unit_bytes - 1)));
            if (!is_zero(source + at, part)) std::memcpy(target + at, source + at, part);
        }
    };
    std::size_t done = 0;
    platform::for_each_resident(const_cast<void*>(from), bytes, [&](void* part, std::size_t part_bytes) {
        const std::size_t at = address_of(part) - address_of(from);
        copy_absent(done, at);
        std::memcpy(target + at, part, part_bytes);
        done = at + part_bytes;
    });
    copy_absent(done, bytes);
}

}

/// The block has another size at its address. For the profile, it begins anew, unless it takes the same from the heap.
void heap_core::note_size(const void* block, std::size_t bytes) noexcept {
    if (is_profiled() && !profiled(block, bytes).is_small) [[unlikely]] {
        end_sample(*this, block);
        begin_sample(*this, nullptr, block, bytes);
    }
    note_block_end(block);
    note_block_begin(block, bytes);
}

bool heap_core::resize(void* block, std::size_t bytes) noexcept {
    const bool is_resized = resize_untold(block, bytes);
    if (is_resized) note_size(block, bytes);
    return is_resized;
}

bool heap_core::resize_untold(void* block, std::size_t bytes) noexcept {
    if (checks::caller && fenced_.contains(block)) {
        return bytes > fenced_blocks::least_bytes && resize_fenced(block, bytes); // a smaller block moves
    }
    if (checks::caller && (guarded_.contains(block) || zero_.contains(block)))
        return false; // a block of another size needs another address
    const std::uint8_t number = class_number_of(block, slice_number_of(block));
    if constexpr (checks::caller) return resize_checked(block, bytes, number);
    return resize_to(block, bytes, number);
}

/// The bytes that a block past the small ones counts for.
std::size_t heap_core::larger_bytes(const void* block, std::uint8_t number) const noexcept {
    return number == large_class ? large_.usable_bytes(block) : huge_.asked_bytes(block);
}

bool heap_core::may_grow(const void* block, std::size_t bytes, std::uint8_t number) noexcept {
    if (number != large_class && number != huge_class) return true;
    const std::uint16_t tag = number == large_class ? large_.tag_of(block) : huge_.tag_of(block);
    if (tag == 0 || !has_budget(tag)) return true;
    const std::size_t before = larger_bytes(block, number);
    if (bytes <= before) return true;
    const bool is_of_process = process_cache() != nullptr && process_cache()->tag == tag;
    return budget_allows(tag, bytes, align_up(bytes, unit_bytes) - before, is_of_process ? process_cache() : nullptr);
}

bool heap_core::resize_to(void* block, std::size_t bytes, std::uint8_t number) noexcept {
    if (number < small_class_count) return bytes <= class_bytes(number);
    if (number != large_class && number != huge_class) return false;
    if (!may_grow(block, bytes, number)) return false;
    const std::uint16_t tag = number == large_class ? large_.tag_of(block) : huge_.tag_of(block);
    const std::size_t before = larger_bytes(block, number);
    const bool is_resized =
        number == large_class ? bytes > max_small_bytes / 2 && large_.resize(block, bytes) : huge_.resize(block, bytes);
    const std::size_t after = larger_bytes(block, number);
    if (tag != 0) count_tagged(tag, 0, after - before);
    if (after < before) purge_expired();
    return is_resized;
}

void* heap_core::reallocate(thread_cache* cache, void* block, std::size_t bytes, std::size_t alignment) noexcept {
    if (block == nullptr) return allocate(cache, bytes, alignment, fill::none);
    constexpr std::size_t most = max_object_bytes / 4;
    check_alignment("A heap", alignment);
    if (bytes > most || alignment > most || !is_power_of_two(alignment)) return nullptr;
    if constexpr (checks::caller) {
        check_alone("reallocate");
        const std::size_t asked = checked_.sound_bytes(block);
        const bool stays = asked != 0 && bytes != 0 && bytes >= asked / 2 && is_aligned(block, alignment);
        if (stays && checked_.resize(block, bytes)) {
            note_size(block, bytes);
            return block;
        }
    }
    const bool is_of_malloc = origin() == block_origin::malloc && is_passthrough(block);
    if (is_of_malloc && passthrough_form_ == passthrough_form::plain)
        return host::process_reallocate(block, bytes, alignment);
    if (is_of_malloc) return reallocate_by_copy(cache, block, bytes, alignment, passthrough_.bytes_of(block));
    if (checks::caller && zero_.contains(block)) {
        void* const fresh =
            zero_.is_live(block) ? allocate(cache, bytes, alignment, fill::none, block_form::c) : nullptr;
        if (fresh != nullptr) note_block_end(block);
        if (fresh != nullptr || !zero_.is_live(block)) deallocate_zero(block, "reallocated");
        return fresh;
    }
    const std::size_t usable = usable_bytes(block);
    if (checks::caller && usable == 0) return nullptr; // reported; every valid block has at least one byte
    const bool is_sampled = !checks::caller && slice_number_of(block) == guarded_class;
    if (is_sampled && usable == 0) { // not a live block
        sampled_.deallocate(block);  // reports it
        return nullptr;
    }
    // A budget that refuses is asked here, so that it is not asked again for a copy.
    const bool may_resize = bytes <= usable || may_grow(block, bytes, class_number_of(block, slice_number_of(block)));
    if (!may_resize) return nullptr;
    const bool is_aligned_so = is_aligned(block, alignment);
    // A block that shrinks to less than half moves, so that the memory it no longer needs can serve others.
    const bool is_worth_keeping = bytes <= usable ? bytes >= usable / 2 : usable > max_small_bytes;
    if (is_aligned_so && is_worth_keeping && resize(block, bytes)) return block;
    const std::uint8_t number = class_number_of(block, slice_number_of(block));
    // A moved block keeps its distance from a segment boundary, and therefore at most a segment's alignment.
    const bool may_move = number == huge_class && alignment <= memory_.segment_bytes() / 2;
    const bool stays_huge = bytes > usable || !fits_segment(bytes, alignment, memory_.segment_bytes());
    if (!checks::caller && is_aligned_so && may_move && stays_huge) {
        const std::uint16_t tag = huge_.tag_of(block);
        const std::size_t before = huge_.asked_bytes(block);
        note_block_end(block); // before another thread can have its address
        if (is_profiled()) [[unlikely]]
            end_sample(*this, block);
        void* const moved = huge_.move(block, bytes);
        const void* const now = moved != nullptr ? moved : block;
        if (is_profiled()) [[unlikely]]
            begin_sample(*this, nullptr, now, moved != nullptr ? bytes : before);
        note_block_begin(now, moved != nullptr ? bytes : before);
        if (tag != 0 && moved != nullptr) count_tagged(tag, 0, bytes - before);
        if (moved != nullptr) return moved;
    }
    void* const fresh = reallocate_by_copy(cache, block, bytes, alignment, usable);
    // A shrink that cannot allocate need not fail: the block is large enough as it is.
    const bool is_guarded = checks::caller && guarded_.contains(block); // a guarded block cannot shrink in place
    const bool stays = fresh == nullptr && is_aligned_so && bytes <= usable && !is_guarded;
    if (checks::caller && stays && fenced_.contains(block)) {
        (void)resize_fenced(block, std::max<std::size_t>(bytes, 1));
        return block;
    }
    if (checks::caller && stays) {
        // Shrink as far as possible, so that the guard behind it is short.
        (void)resize_to(block, std::max(bytes + guard_bytes, max_small_bytes), number);
        return set_canary(block, std::max<std::size_t>(bytes, 1));
    }
    return stays ? block : fresh;
}

void* heap_core::reallocate_by_copy(thread_cache* cache, void* block, std::size_t bytes, std::size_t alignment,
                                    std::size_t usable) noexcept {
    const std::size_t copied = std::min(bytes, usable);
    // Not under passthrough: memory checkers track reads.
    // Nor for a guarded block, whose pages are not the source's.
    const bool by_pages =
        origin() == block_origin::own && slice_number_of(block) != guarded_class && is_sparse(block, copied);
    const std::uint8_t number = checks::caller ? class_number_of(block, slice_number_of(block)) : no_class;
    const block_form form = number < small_class_count ? checked_.form(block, number) : block_form::any;
    void* const fresh = allocate(cache, bytes, alignment, by_pages ? fill::zero : fill::none, form);
    if (fresh == nullptr) return nullptr;
    if (by_pages) {
        copy_sparse(fresh, block, copied);
        if (!fenced_.contains(block))
            memory_.decommit(block, copied); // pages that were read look as if they had been touched
    } else {
        std::memcpy(fresh, block, copied);
    }
    deallocate(cache, block);
    return fresh;
}

}
