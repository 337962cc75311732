// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/block_pool.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/freed_words.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

using detail::segment;
using detail::segment_layout;

namespace {

constexpr std::size_t min_segment_bytes = 4096;
constexpr std::size_t max_segment_bytes = std::size_t{4} << 30;
constexpr std::size_t blocks_wanted = 15; // minimum per segment where possible; a segment always holds at least one
constexpr std::uint64_t segment_canary = 0x5E65'E27E'0B10'C4A1;

/// The layout for the requested segment size, enlarged if it would hold too few blocks.
segment_layout choose_layout(std::size_t stride, std::size_t alignment, std::size_t segment_bytes) noexcept {
    const std::size_t wanted = std::bit_ceil(std::max(segment_bytes, (blocks_wanted + 1) * stride));
    return segment_layout::of(std::min(wanted, max_segment_bytes), stride, alignment);
}

}

block_pool::block_pool(std::size_t bytes, std::size_t alignment, block_source& source,
                       std::size_t segment_bytes) noexcept
    : recent_room_(recent_capacity), alignment_(alignment), source_(source),
      passthrough_(passthrough_enabled(part::pool)) {
    const bool possible =
        bytes != 0 && bytes <= max_block_bytes && is_power_of_two(alignment) && alignment <= max_block_bytes;
    if (possible) {
        const std::size_t most = std::bit_floor(std::max(source.max_bytes(), min_segment_bytes));
        const std::size_t asked = std::max(std::min(segment_bytes, max_segment_bytes), min_segment_bytes);
        wanted_segment_bytes_ = std::min(asked, most);
        layout_ = choose_layout(align_up(bytes, alignment), alignment, wanted_segment_bytes_);
    }
    if (passthrough_ || checks::caller) recent_room_ = 0;
}

block_pool::~block_pool() {
    if constexpr (checks::structures) check_invariant(valid(), "block_pool", this);
    passthrough_blocks_.free_all();
    while (first_ != nullptr) {
        segment* const released = first_;
        first_ = released->next;
        release_segment(released);
    }
}

void block_pool::note_misuse(std::string_view what, const void* at, std::string_view advice) noexcept {
    if (noted_ == nullptr) return report_misuse(what, at, advice);
    noted_->add(what, at, advice);
}

segment* block_pool::acquire_segment() noexcept {
    // Chosen again for a pool's first segment: a source that once could not provide large ones may do so now.
    segment_layout layout = layout_;
    if (first_ == nullptr && layout.capacity != 0)
        layout = choose_layout(layout.stride_bytes, alignment_, wanted_segment_bytes_);
    while (layout.capacity != 0) {
        void* memory = source_.acquire(layout.segment_bytes, layout.segment_bytes);
        if (!is_aligned(memory, layout.segment_bytes)) [[unlikely]] {
            if constexpr (checks::caller)
                note_misuse(detail::ignored_alignment, memory, detail::ignored_alignment_advice);
            source_.release(memory, layout.segment_bytes);
            memory = nullptr;
        }
        if (memory != nullptr) {
            layout_ = layout;
            // The source may return used memory; only the bits must be zero.
            auto* const fresh = new (memory) segment{};
            fresh->canary = segment_canary ^ address_of(this);
            std::memset(fresh->level2(), 0, (layout_.level1_words + layout_.level2_words) * sizeof(bit_word));
            fresh->groups_used = layout_.word_count; // forget() zeroes the bits of used groups
            if (&source_ != &page_source::process()) fresh->forget(layout_);
            fresh->groups_used = 0;
            platform::add_leak_root(memory, layout_.segment_bytes);
            return fresh;
        }
        // All segments of a pool have the same size, so only the first one may become smaller.
        if (first_ != nullptr || layout.segment_bytes <= min_segment_bytes) return nullptr;
        layout = segment_layout::of(layout.segment_bytes / 2, layout.stride_bytes, alignment_);
    }
    return nullptr;
}

void block_pool::release_segment(segment* which) noexcept {
    if constexpr (checks::caller) {
        const std::size_t touched = std::min(which->groups_touched * bits_per_word, layout_.capacity);
        platform::unpoison(pointer_at(which->blocks(layout_)), touched * layout_.stride_bytes);
    }
    platform::remove_leak_root(which, layout_.segment_bytes);
    source_.release(which, layout_.segment_bytes);
}

void block_pool::make_partial(segment* which) noexcept {
    if (which->is_partial) return;
    which->is_partial = true;
    which->next_partial = partial_;
    partial_ = which;
}

void block_pool::hand_out(segment* from, std::size_t word, bit_word blocks) noexcept {
    group_ = blocks;
    group_segment_ = from;
    group_word_ = word;
    group_begin_ = from->blocks(layout_) + word * bits_per_word * layout_.stride_bytes;
}

/// Prepares the next group: freed blocks first, then fresh blocks, then a new segment.
bool block_pool::refill() noexcept {
    check_invariant(free_in_bits_ + cached_count() <= allocated_,
                    "block_pool: more blocks are free than were put in use", this);
    while (partial_ != nullptr) {
        if (partial_->has_free(layout_)) {
            std::size_t word = 0;
            const bit_word blocks = partial_->take_word(layout_, word);
            free_in_bits_ -= count_bits(blocks);
            partial_->is_trimmed = false;
            hand_out(partial_, word, blocks);
            return true;
        }
        partial_->is_partial = false;
        partial_ = partial_->next_partial;
    }
    while (bump_ != nullptr && bump_->groups_used == layout_.word_count) bump_ = bump_->next;
    if (bump_ == nullptr) {
        segment* const fresh = acquire_segment();
        if (fresh == nullptr) return false;
        (last_ != nullptr ? last_->next : first_) = fresh;
        last_ = bump_ = fresh;
        ++segment_count_;
    }
    const std::size_t word = bump_->groups_used++;
    bump_->is_trimmed = false;
    bump_->groups_touched = std::max(bump_->groups_touched, bump_->groups_used);
    const std::size_t count = segment::group_size(layout_, word);
    allocated_ += count;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
    hand_out(bump_, word, low_bits(count));
    // Poison one group at a time: AddressSanitizer's shadow of a whole untouched segment would take 4 MiB.
    if constexpr (checks::caller) platform::poison(pointer_at(group_begin_), count * layout_.stride_bytes);
    return true;
}

void* block_pool::allocate_slow() noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of a pool", layout_.stride_bytes);
    if (passthrough_) {
        return layout_.capacity == 0 ? nullptr : passthrough_blocks_.allocate(layout_.stride_bytes, alignment_);
    }
    if (group_ == 0 && !refill()) return nullptr;
    const bit_word group = group_;
    group_ = without_lowest_bit(group);
    void* const block = pointer_at(group_begin_ + lowest_bit(group) * layout_.stride_bytes);
    if constexpr (checks::caller) platform::unpoison(block, layout_.stride_bytes);
    return block;
}

struct block_pool::place {
    segment* home;
    std::size_t word;
    bit_word bits;
};

/// Undoes the second free of blocks in one word and reports each.
void block_pool::report_twice(const place& where, bit_word twice) noexcept {
    const bit_word in_group = where.home == group_segment_ && where.word == group_word_ ? group_ & twice : 0;
    group_ &= ~in_group; // the bits already mark them free
    free_in_bits_ -= count_bits(twice & ~in_group);
    for_each_bit(twice, [&](std::size_t bit) {
        const std::size_t index = where.word * bits_per_word + bit;
        note_misuse("a pool block was freed twice",
                    pointer_at(where.home->blocks(layout_) + index * layout_.stride_bytes),
                    "Look for a second owner of this block. A checked build reports the error at the second free.");
    });
}

/// Sets bits in a word that was empty, or bits that are already set. write_back() leaves these rare cases to it.
void block_pool::write_rare(bit_word* at, bit_word before, bit_word bits) noexcept {
    segment* const home = segment::of(at, layout_.segment_bytes);
    const auto word = static_cast<std::size_t>(at - home->level0(layout_));
    if (before == 0) {
        home->summarise(layout_, word);
        if (!home->is_partial) make_partial(home);
    }
    const bool in_group = home == group_segment_ && word == group_word_;
    const bit_word twice = (before | (in_group ? group_ : 0)) & bits;
    if (twice != 0) report_twice({home, word, bits}, twice);
}

void block_pool::write_back(void* const* blocks, std::size_t count) noexcept {
    constexpr std::size_t max_at_once = detail::max_freed_words;
    for (; count > max_at_once; blocks += max_at_once, count -= max_at_once) write_back(blocks, max_at_once);
    if (count == 0) return;
    free_in_bits_ += count;
    const segment_layout layout = layout_;
    detail::freed_word words[detail::max_freed_words];
    const auto locate = [&layout](const void* block) noexcept {
        segment* const home = segment::of(block, layout.segment_bytes);
        const std::size_t index = layout.index_of(address_of(block) - home->blocks(layout));
        return detail::freed_word{home->level0(layout) + index / bits_per_word, bit_at(index)};
    };
    const std::size_t word_count = detail::locate_freed(blocks, count, words, locate, [](detail::freed_word&) {});

    const bit_word* const group_word =
        group_segment_ != nullptr ? group_segment_->level0(layout) + group_word_ : nullptr;
    for (std::size_t each = 0; each < word_count; ++each) {
        const auto [word, bits] = words[each];
        const bit_word before = *word;
        *word = before | bits;
        if (before == 0 || (before & bits) != 0 || word == group_word) [[unlikely]]
            write_rare(word, before, bits);
    }
}

void block_pool::deallocate_passthrough(void* block) noexcept {
    if (block == nullptr) return;
    if (checks::caller && !passthrough_blocks_.is_listed(block)) {
        return note_misuse(
            "an allocator under passthrough was asked to free a block that is not its own, or was freed before", block,
            "Look for a second owner; AddressSanitizer or Valgrind name where it was freed.");
    }
    passthrough_blocks_.deallocate(block);
}

void block_pool::deallocate_slow(void* block) noexcept {
    if constexpr (checks::caller) {
        const detail::caller_release release("a block of a pool", block);
        return passthrough_ ? deallocate_passthrough(block) : deallocate_checked(block);
    }
    if (passthrough_) return deallocate_passthrough(block);
    constexpr std::size_t half = recent_capacity / 2;
    write_back(recent_, half);
    std::memcpy(recent_, recent_ + half, half * sizeof(void*));
    recent_count_ = half;
    if (last_freed_ != nullptr) recent_[recent_count_++] = last_freed_;
    last_freed_ = block;
}

void block_pool::deallocate_checked(void* block) noexcept {
    constexpr std::string_view advice = "Free to a pool only blocks that it allocated, once each.";
    if (block == nullptr) return;
    if (!owns(block)) {
        note_misuse("a pool was asked to free a pointer that it does not own", block, advice);
        return;
    }
    segment* const home = segment::of(block, layout_.segment_bytes);
    const std::size_t offset = address_of(block) - home->blocks(layout_);
    const std::size_t index = layout_.index_of(offset);
    const bool is_block = index * layout_.stride_bytes == offset && index / bits_per_word < home->groups_used;
    if (home->canary != (segment_canary ^ address_of(this)) || !is_block) {
        note_misuse("a pool was asked to free a pointer that is not the start of a block", block, advice);
        return;
    }
    const bool waits_in_group =
        home == group_segment_ && index / bits_per_word == group_word_ && (group_ & bit_at(index)) != 0;
    if (waits_in_group || (home->level0(layout_)[index / bits_per_word] & bit_at(index)) != 0) {
        note_misuse("a pool block was freed twice", block, "Look for a second owner of this block.");
        return;
    }
    platform::poison_dropped(block, layout_.stride_bytes);
    write_back(&block, 1);
}

/// Writes the stack, the newest freed block and the group into the bits, so that the bits are complete.
void block_pool::settle() noexcept {
    write_back(recent_, recent_count_);
    recent_count_ = 0;
    if (last_freed_ != nullptr) write_back(&last_freed_, 1);
    last_freed_ = nullptr;
    if (group_ != 0) {
        const bit_word blocks = group_;
        group_ = 0;
        free_in_bits_ += count_bits(blocks);
        group_segment_->set_free(layout_, group_word_, blocks);
        make_partial(group_segment_);
    }
    group_segment_ = nullptr;
}

void block_pool::clear() noexcept {
    passthrough_blocks_.free_all();
    for (segment* each = first_; each != nullptr; each = each->next) {
        if constexpr (checks::caller) {
            const std::size_t used = std::min(each->groups_used * bits_per_word, layout_.capacity);
            platform::unpoison(pointer_at(each->blocks(layout_)), used * layout_.stride_bytes);
            platform::poison_dropped(pointer_at(each->blocks(layout_)), used * layout_.stride_bytes);
        }
        each->forget(layout_);
    }
    last_freed_ = nullptr;
    recent_count_ = 0;
    group_ = 0;
    group_segment_ = nullptr;
    partial_ = nullptr;
    bump_ = first_;
    allocated_ = free_in_bits_ = 0;
}

std::size_t block_pool::cached_count() const noexcept {
    return recent_count_ + (last_freed_ != nullptr ? 1 : 0) + count_bits(group_);
}

std::size_t block_pool::size() const noexcept {
    return (passthrough_ ? passthrough_blocks_.count() : 0) + allocated_ - free_in_bits_ - cached_count();
}

bool block_pool::owns(const void* pointer) const noexcept {
    if (layout_.capacity == 0) return false;
    for (const segment* each = first_; each != nullptr; each = each->next) {
        if (address_of(pointer) - each->blocks(layout_) < layout_.capacity * layout_.stride_bytes) return true;
    }
    return passthrough_ && passthrough_blocks_.owns(pointer);
}

allocator_stats block_pool::stats() const noexcept {
    allocator_stats answer;
    answer.live_count = size();
    answer.live_bytes = answer.live_count * layout_.stride_bytes;
    answer.peak_bytes = (passthrough_ ? passthrough_blocks_.peak_count() : peak_allocated_) * layout_.stride_bytes;
    answer.source_blocks = segment_count_;
    answer.reserved_bytes = segment_count_ * layout_.segment_bytes;
    return answer;
}

bool block_pool::valid() noexcept {
    settle();
    std::size_t free_count = 0;
    std::size_t allocated = 0;
    std::size_t count = 0;
    for (segment* each = first_; each != nullptr; each = each->next) {
        if (!each->valid(layout_, free_count)) return false;
        allocated += std::min(each->groups_used * bits_per_word, layout_.capacity);
        ++count;
    }
    return free_count == free_in_bits_ && allocated == allocated_ && count == segment_count_;
}

}
