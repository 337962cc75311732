// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/block_pool.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <tenure/base/budget_source.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/engine/tail_guard.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/detail/debug_layout.hpp>
#include <tenure/pool/detail/pool_leaks.hpp>
#include <utility>

namespace tenure::inline TENURE_ABI {

using detail::segment;
using detail::segment_layout;

namespace {

constexpr std::size_t min_segment_bytes = 4096;
constexpr std::size_t max_segment_bytes = std::size_t{4} << 30;
constexpr std::size_t blocks_wanted = 15; // minimum per segment where possible; a segment always holds at least one
constexpr std::string_view overrun = "a pool block was overrun: memory past its end was overwritten";
constexpr std::string_view seek_overrun =
    "Look for a write past the end of this block; AddressSanitizer stops the program at the write.";
constexpr std::string_view front_written = "memory in front of a pool block was overwritten";
constexpr std::string_view seek_front =
    "Look for a write in front of this block; AddressSanitizer stops the program at the write.";
constexpr std::string_view left_advice =
    "Free its blocks to the pool that took them over. The pointers of make_unique_in() find it themselves.";
constexpr std::string_view seek_owner = "Look for a second owner of this block.";
constexpr std::string_view seek_owner_or_thread =
    "Look for a second owner of this block, and for threads that use one pool at the same time: they need a "
    "shared_pool.";
constexpr detail::sole_use one_thread{
    "pool", "A pool serves one thread at a time: use a shared_pool or shared_block_pool, or a pool for each thread."};
constexpr std::uint64_t segment_canary = 0x5E65'E27E'0B10'C4A1;

enum class guard_finding : std::uint8_t {
    whole,
    from_begin, ///< the block in front of the guard was overrun
    from_end,   ///< only the end was overwritten: probably by the block behind the guard
};

guard_finding look_at_guard(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::size_t count = end - begin;
    if (count >= detail::tail_guard_bytes && detail::is_tail_guard_whole(begin, end)) [[likely]]
        return guard_finding::whole;
    const std::size_t first = platform::first_other(pointer_at(begin), count, detail::tail_guard_fill);
    const std::size_t past = platform::past_last_other(pointer_at(begin), count, detail::tail_guard_fill);
    if (past == 0) return guard_finding::whole;
    return first != 0 && past == count ? guard_finding::from_end : guard_finding::from_begin;
}

/// The layout for the requested segment size, enlarged if it would hold too few blocks.
segment_layout choose_layout(std::size_t stride, std::size_t alignment, std::size_t segment_bytes) noexcept {
    const std::size_t wanted = std::bit_ceil(std::max(segment_bytes, (blocks_wanted + 1) * stride));
    return segment_layout::of(std::min(wanted, max_segment_bytes), stride, alignment);
}

}

block_pool::block_pool(std::size_t bytes, std::size_t alignment, std::size_t segment_bytes,
                       block_source& source) noexcept
    : alignment_(alignment), source_(source), passthrough_(passthrough_enabled(part::pool)) {
    TENURE_KEEP(tenure_debug_pool_layout);
    if (passthrough_) last_freed_ = never_a_block;
    const bool possible =
        bytes != 0 && bytes <= max_block_bytes && is_power_of_two(alignment) && alignment <= max_block_bytes;
    if (possible) {
        const std::size_t most = std::bit_floor(std::max(source.max_bytes(), min_segment_bytes));
        const std::size_t asked = std::max(std::min(segment_bytes, max_segment_bytes), min_segment_bytes);
        wanted_segment_bytes_ = std::min(asked, most);
        block_bytes_ = static_cast<std::uint32_t>(bytes);
        // AddressSanitizer poisons units of 8 bytes.
        const std::size_t unit = checks::caller ? std::max<std::size_t>(alignment, 8) : alignment;
        layout_ = choose_layout(align_up(bytes + detail::tail_guard_bytes, unit), alignment, wanted_segment_bytes_);
    } else if constexpr (checks::caller) {
        report_impossible(bytes, alignment);
    }
    detail::add_holder(this, as_holder);
}

constinit const detail::holder_kind block_pool::as_holder{
    "pool", sizeof(block_pool),
    [](const void* holder) noexcept {
        const auto& held = *static_cast<const block_pool*>(holder);
        const std::uint64_t mark = detail::mixed(held.alignment_, held.wanted_segment_bytes_);
        return detail::mixed(mark, address_of(&held.source_));
    },
    &block_pool::list_held};

void block_pool::list_held(const void* holder, const detail::holder_facts& facts, detail::held_list& to) noexcept {
    const auto& held = *static_cast<const block_pool*>(holder);
    // Other members change, and may have been overwritten alone.
    if (held.allocated_ > held.segment_count_ * held.layout_.capacity) return to.add_lost("pool", holder);
    const std::size_t count = held.size();
    detail::add_pool(to, "pool of ", held.block_bytes(), facts.type, count);
}

void detail::add_pool(held_list& to, std::string_view part, std::size_t block_bytes, const char* type,
                      std::size_t count) noexcept {
    if (type != nullptr) return to.add({part, type_in(type), count, count * block_bytes});
    report_text text;
    text.number(block_bytes).text("-byte blocks");
    to.add({part, text.view(), count, count * block_bytes});
}

void block_pool::report_impossible(std::size_t bytes, std::size_t alignment) noexcept {
    const bool is_size = bytes == 0 || bytes > max_block_bytes;
    if (!is_size && !is_power_of_two(alignment)) return report_alignment("A pool", alignment);
    report_argument("The constructor of a pool", is_size ? "bytes" : "alignment", is_size ? bytes : alignment,
                    "A block has 1 to 268435456 bytes, and an alignment of at most as many.");
}

block_pool::block_pool(block_pool&& other) noexcept
    : last_freed_(other.last_freed_), run_begin_(other.run_begin_), run_end_(other.run_end_),
      word_(other.word_ == &other.no_word_ ? &no_word_ : other.word_), word_begin_(other.word_begin_),
      free_in_bits_(other.free_in_bits_), layout_(other.layout_), word_segment_(other.word_segment_),
      partial_(other.partial_), first_(other.first_), last_(other.last_), bump_(other.bump_),
      segment_count_(other.segment_count_), allocated_(other.allocated_), peak_allocated_(other.peak_allocated_),
      alignment_(other.alignment_), wanted_segment_bytes_(other.wanted_segment_bytes_), source_(other.source_),
      passthrough_blocks_(std::move(other.passthrough_blocks_)), passthrough_(other.passthrough_),
      block_bytes_(other.block_bytes_), noted_(other.noted_) {
    if constexpr (checks::caller) {
        for (segment* each = first_; each != nullptr; each = each->next)
            each->canary ^= address_of(this) ^ address_of(&other);
    }
    detail::share_holder(&other, this);
    link_.take(other.link_, this);
    // The other pool forgets its segments. One that can serve nothing has none, and was reported when it was made.
    if (layout_.stride_bytes != 0) ::new (&other) block_pool(block_bytes(), alignment_, wanted_segment_bytes_, source_);
    other.is_left_ = true;
}

block_pool& block_pool::operator=(block_pool&& other) noexcept {
    if (this == &other) return *this;
    this->~block_pool();
    return *::new (this) block_pool(std::move(other));
}

block_pool::~block_pool() {
    if constexpr (checks::structures) check_invariant(valid(), "block_pool", this);
    if constexpr (checks::caller) check_living();
    detail::remove_holder(this);
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
    detail::allocation_attempt attempt;
    while (layout.capacity != 0) {
        void* memory = source_.acquire(layout.segment_bytes, layout.segment_bytes);
        if (!is_aligned(memory, layout.segment_bytes)) [[unlikely]] {
            if constexpr (checks::caller)
                note_misuse(detail::ignored_alignment, memory, detail::ignored_alignment_advice);
            source_.release(memory, layout.segment_bytes);
            memory = nullptr;
        }
        if (memory != nullptr) {
            attempt.succeeded();
            layout_ = layout;
            // The source may return used memory; only the bits must be zero.
            auto* const fresh = new (memory) segment{};
            fresh->canary = segment_canary ^ address_of(this);
            std::memset(fresh->level2(), 0, (layout_.level1_words + layout_.level2_words) * sizeof(bit_word));
            fresh->groups_used = layout_.word_count; // forget() zeroes the bits of used groups
            if (&source_ != &page_source::process()) fresh->forget(layout_);
            fresh->groups_used = 0;
            if constexpr (checks::caller) {
                const std::uintptr_t blocks = fresh->blocks(layout_);
                detail::set_tail_guard(blocks - detail::tail_guard_bytes, blocks);
            }
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
        const std::uintptr_t front = which->blocks(layout_) - detail::tail_guard_bytes;
        platform::unpoison(pointer_at(front), touched * layout_.stride_bytes + detail::tail_guard_bytes);
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

void block_pool::use_word(segment* from, std::size_t word) noexcept {
    word_ = from->level0(layout_) + word;
    word_segment_ = from;
    word_begin_ = from->blocks(layout_) + word * bits_per_word * layout_.stride_bytes;
    from->is_trimmed = false;
}

/// Leaves the current word, and takes it out of the summary if none of its blocks is free.
void block_pool::leave_word() noexcept {
    if (word_segment_ == nullptr) return;
    if (*word_ == 0)
        word_segment_->forget_word(layout_, static_cast<std::size_t>(word_ - word_segment_->level0(layout_)));
    word_ = &no_word_;
    word_segment_ = nullptr;
}

/// Makes the free blocks of the current word, which are neighbours, the run. Requires  the run is empty.
void block_pool::take_word_as_run() noexcept {
    const bit_word free = *word_;
    run_begin_ = word_begin_ + lowest_bit(free) * layout_.stride_bytes;
    run_end_ = run_begin_ + count_bits(free) * layout_.stride_bytes;
    *word_ = 0;
    free_in_bits_ -= count_bits(free);
    leave_word();
}

/// Chooses the next word: freed blocks first, then fresh blocks, then a new segment.
bool block_pool::refill() noexcept {
    check_invariant(free_in_bits_ <= allocated_, "block_pool: more blocks are free than were put in use", this);
    leave_word();
    while (partial_ != nullptr) {
        if (partial_->has_free(layout_)) {
            use_word(partial_, partial_->lowest_word(layout_));
            if (!checks::caller && *word_ == low_bits(bits_per_word)) take_word_as_run();
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
    bump_->groups_touched = std::max(bump_->groups_touched, bump_->groups_used);
    const std::size_t count = segment::group_size(layout_, word);
    allocated_ += count;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
    free_in_bits_ += count;
    bump_->level0(layout_)[word] = low_bits(count);
    bump_->summarise(layout_, word);
    make_partial(bump_);
    use_word(bump_, word);
    if constexpr (checks::caller) {
        // One group at a time: AddressSanitizer's shadow of a whole untouched segment would take 4 MiB.
        for (std::size_t index = 1; index <= count; ++index) {
            const std::uintptr_t end = word_begin_ + index * layout_.stride_bytes;
            detail::set_tail_guard(end - guard_bytes(), end);
        }
        platform::poison(pointer_at(word_begin_), count * layout_.stride_bytes);
    } else {
        take_word_as_run();
    }
    return true;
}

void* block_pool::allocate_slow() noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of a pool", block_bytes(), noted_ == nullptr);
    const detail::sole_call call(user_, one_thread, this, noted_ != nullptr);
    if (!call) return nullptr;
    if (passthrough_) {
        return layout_.capacity == 0 ? nullptr : passthrough_blocks_.allocate(block_bytes(), alignment_);
    }
    if (*word_ == 0 && !refill()) return nullptr;
    if constexpr (!checks::caller) return allocate_strided(layout_.stride_bytes);
    const bit_word free = *word_;
    *word_ = without_lowest_bit(free);
    --free_in_bits_;
    const std::uintptr_t block = word_begin_ + lowest_bit(free) * layout_.stride_bytes;
    platform::unpoison(pointer_at(block), block_bytes());
    // Again, because trim() may have dropped it together with the block.
    detail::set_tail_guard(block + block_bytes(), block + layout_.stride_bytes);
    return pointer_at(block);
}

void block_pool::note_twice(const void* block) noexcept {
    note_misuse("a pool block was freed twice", block,
                checks::caller
                    ? seek_owner_or_thread
                    : "Look for a second owner of this block, and for threads that use one pool at the same "
                      "time: they need a shared_pool. A checked build reports the error at the second free.");
}

/// Follows a mark in a word that had no free block, or of blocks that were free already.
void block_pool::mark_rare(bit_word* word, bit_word before, bit_word bits) noexcept {
    segment* const home = segment::of(word, layout_.segment_bytes);
    const auto number = static_cast<std::size_t>(word - home->level0(layout_));
    if (before == 0) {
        home->summarise(layout_, number);
        make_partial(home);
    }
    const bit_word twice = before & bits;
    free_in_bits_ -= count_bits(twice);
    for_each_bit(twice, [&](std::size_t bit) {
        const std::size_t index = number * bits_per_word + bit;
        note_twice(pointer_at(home->blocks(layout_) + index * layout_.stride_bytes));
    });
}

/// Marks neighbouring blocks of one segment as free, a word at a time.
void block_pool::mark_run(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (begin == end) return;
    segment* const home = segment::of(pointer_at(begin), layout_.segment_bytes);
    const std::uintptr_t blocks = home->blocks(layout_);
    std::size_t index = layout_.index_of(begin - blocks);
    const std::size_t last = layout_.index_of(end - blocks);
    while (index < last) {
        const std::size_t bit = index % bits_per_word;
        const std::size_t count = std::min(last - index, bits_per_word - bit);
        bit_word* const word = home->level0(layout_) + index / bits_per_word;
        const bit_word before = *word;
        const bit_word bits = low_bits(count) << bit;
        *word = before | bits;
        free_in_bits_ += count;
        if (before == 0 || (before & bits) != 0) mark_rare(word, before, bits);
        index += count;
    }
}

void block_pool::deallocate_passthrough(void* block) noexcept {
    if (block == nullptr) return;
    if (checks::caller && !passthrough_blocks_.is_listed(block)) {
        if (is_left_) {
            return note_misuse("a pool that was moved from was asked to free a block that is not its own", block,
                               left_advice);
        }
        return note_misuse(
            "an allocator under passthrough was asked to free a block that is not its own, or was freed before", block,
            "Look for a second owner; AddressSanitizer or Valgrind name where it was freed.");
    }
    passthrough_blocks_.deallocate(block);
}

/// Frees `block` where the block freed last, at `before`, does not continue the run.
void block_pool::deallocate_slow(std::uintptr_t before, void* block) noexcept {
    if constexpr (checks::caller) {
        const detail::caller_release release("a block of a pool", block, noted_ == nullptr);
        const detail::sole_call call(user_, one_thread, this, noted_ != nullptr);
        if (!call) return;
        return passthrough_ ? deallocate_passthrough(block) : deallocate_checked(block);
    }
    if (passthrough_) {
        last_freed_ = never_a_block;
        return deallocate_passthrough(block);
    }
    const std::uintptr_t begin = run_begin_, end = run_end_;
    if (before - begin < end - begin) return note_twice(pointer_at(before));
    run_begin_ = before;
    run_end_ = before + layout_.stride_bytes;
    mark_run(begin, end);
}

void block_pool::deallocate_checked(void* block) noexcept {
    constexpr std::string_view advice = "Free to a pool only blocks that it allocated, once each.";
    if (block == nullptr) return;
    if (!owns(block)) {
        if (is_left_) {
            note_misuse("a pool that was moved from was asked to free a pointer that it does not own", block,
                        left_advice);
            return;
        }
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
    if ((home->level0(layout_)[index / bits_per_word] & bit_at(index)) != 0) {
        note_misuse("a pool block was freed twice", block, noted_ == nullptr ? seek_owner_or_thread : seek_owner);
        return;
    }
    if (!is_end_whole(address_of(block))) return;
    look_in_front(home, index);
    platform::poison_dropped(block, block_bytes());
    mark_one(block);
}

/// Looks at the guard behind a block, and notes the block next to it that was probably written past.
/// Returns   whether this block was not overrun.
bool block_pool::is_end_whole(std::uintptr_t block) noexcept {
    const guard_finding behind = look_at_guard(block + block_bytes(), block + layout_.stride_bytes);
    if (behind == guard_finding::whole) return true;
    const bool from_next = behind == guard_finding::from_end;
    if (from_next)
        note_misuse(front_written, pointer_at(block + layout_.stride_bytes), seek_front);
    else
        note_misuse(overrun, pointer_at(block), seek_overrun);
    return from_next;
}

/// Looks at the guard in front of a block, likewise.
void block_pool::look_in_front(segment* home, std::size_t index) noexcept {
    const std::uintptr_t block = home->blocks(layout_) + index * layout_.stride_bytes;
    const std::size_t before = index - 1;
    std::uintptr_t guard = block - (index != 0 ? guard_bytes() : detail::tail_guard_bytes);
    if (detail::is_tail_guard_whole(guard, block)) return;
    const bool is_free = index != 0 && (home->level0(layout_)[before / bits_per_word] & bit_at(before)) != 0;
    if (is_free) guard += platform::first_other(pointer_at(guard), guard_bytes(), 0); // trim() may have dropped it
    const guard_finding found = look_at_guard(guard, block);
    if (found == guard_finding::whole) return;
    if (found == guard_finding::from_begin && index != 0)
        return note_misuse(overrun, pointer_at(block - layout_.stride_bytes), seek_overrun);
    note_misuse(front_written, pointer_at(block), seek_front);
}

/// Looks at the guards behind all live blocks, before their memory goes.
void block_pool::check_living() noexcept {
    for (segment* each = first_; each != nullptr; each = each->next) {
        for (std::size_t word = 0; word < each->groups_used; ++word) {
            const bit_word all = low_bits(segment::group_size(layout_, word));
            for_each_bit(all & ~each->level0(layout_)[word], [&](std::size_t bit) {
                const std::size_t index = word * bits_per_word + bit;
                static_cast<void>(is_end_whole(each->blocks(layout_) + index * layout_.stride_bytes));
                if (index == 0) look_in_front(each, index);
            });
        }
    }
}

/// Marks the block freed last and the run, and leaves the current word, so that the bits and their summary are
/// complete.
void block_pool::settle() noexcept {
    // The block freed last joins the run.
    if (!checks::caller && !passthrough_) deallocate_strided(nullptr, layout_.stride_bytes);
    mark_run(run_begin_, run_end_);
    run_begin_ = run_end_ = 0;
    leave_word();
}

void block_pool::clear() noexcept {
    const detail::sole_call call(user_, one_thread, this, noted_ != nullptr);
    if (!call) return;
    if constexpr (checks::caller) check_living();
    passthrough_blocks_.free_all();
    for (segment* each = first_; each != nullptr; each = each->next) {
        if constexpr (checks::caller) {
            const std::size_t used = std::min(each->groups_used * bits_per_word, layout_.capacity);
            platform::unpoison(pointer_at(each->blocks(layout_)), used * layout_.stride_bytes);
            platform::poison_dropped(pointer_at(each->blocks(layout_)), used * layout_.stride_bytes);
        }
        each->forget(layout_);
    }
    last_freed_ = passthrough_ ? never_a_block : no_block;
    run_begin_ = run_end_ = 0;
    word_ = &no_word_;
    word_segment_ = nullptr;
    partial_ = nullptr;
    bump_ = first_;
    allocated_ = free_in_bits_ = 0;
}

std::size_t block_pool::trim() noexcept {
    const detail::sole_call call(user_, one_thread, this, noted_ != nullptr);
    return call ? trim_all() : 0;
}

std::size_t block_pool::size() const noexcept {
    if (passthrough_) return passthrough_blocks_.count();
    const std::size_t free = free_in_bits_ + run_count() + (last_freed_ > never_a_block ? 1 : 0);
    return allocated_ - std::min(free, allocated_); // a block that was freed twice may count twice until it is marked
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
    answer.live_bytes = answer.live_count * block_bytes();
    answer.peak_bytes = (passthrough_ ? passthrough_blocks_.peak_count() : peak_allocated_) * block_bytes();
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
