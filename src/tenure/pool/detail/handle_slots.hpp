// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The slots of a handle_pool: which are live, and the generation of each.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>
#include <tenure/engine/growing_range.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/tail_guard.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Two ranges, each committed as it grows:
//
//   objects   | slot 0 | slot 1 | ...
//   records   | summary: a bit per group with free slots | group 0 | group 1 | ...
//
// A slot is free, taken or live. It is taken while its object is constructed or destroyed: then it has no handle, and
// no other object gets it.
//
// A slot's generation is odd while it is live: make_live() adds one, make_stale() adds one. It begins with the range's
// first generation, which differs from range to range, and the slot is not used again when it returns there.
struct slot_group {
    bit_word live;
    bit_word free; ///< was live before, and may be taken
    std::uint32_t generations[bits_per_word];
};

/// What a report of two threads in one handle_pool says.
extern TENURE_API const sole_use one_thread_in_slots;

class handle_slots {
public:
    static constexpr std::size_t max_slots = std::size_t{1} << 32;
    static constexpr std::size_t no_slot = SIZE_MAX;

    /// `max_count` is at most max_slots; a larger one refuses every take.
    handle_slots(std::size_t bytes, std::size_t alignment, std::size_t max_count) noexcept
        : guard_bytes_(guard_behind(bytes, alignment)), stride_(bytes + guard_bytes_), alignment_(alignment),
          max_count_(max_count) {
        if (checks::caller && max_count > max_slots) report_count(max_count);
        enlist();
    }
    ~handle_slots() {
        if constexpr (checks::caller) check_living();
        remove_holder(this);
    }
    /// The other one is empty afterwards. Its maximum was reported when it was made, if it is too large.
    handle_slots(handle_slots&& other) noexcept
        : guard_bytes_(other.guard_bytes_), stride_(other.stride_), alignment_(other.alignment_),
          max_count_(other.max_count_) {
        swap(other);
        share_holder(&other, this);
    }
    handle_slots& operator=(handle_slots&& other) noexcept {
        swap(other);
        return *this;
    }

    /// Begins a call that changes the slots, also one whose object is constructed or destroyed in between. A call of
    /// another thread that overlaps with it is reported, and one inside it is not.
    [[nodiscard]] sole_call begin_call() noexcept { return {user_, one_thread_in_slots, this}; }

    // The functions that change slots require a call that begin_call() allowed.

    /// Takes the free slot with the lowest index. Returns   no_slot when full or out of memory.
    [[nodiscard]] std::size_t take() noexcept {
        std::size_t index = end_;
        if (free_count_ != 0) {
            index = take_free();
        } else if (index != ready_end_ || grow()) {
            groups_[index / bits_per_word].generations[index % bits_per_word] = first_generation_;
            ++end_;
        } else {
            return no_slot;
        }
        if constexpr (checks::caller) admit(index);
        return index;
    }
    /// Gives a taken slot its next handle.
    void make_live(std::size_t index) noexcept {
        slot_group& group = groups_[index / bits_per_word];
        group.live |= bit_at(index);
        ++group.generations[index % bits_per_word];
        ++live_count_;
    }
    /// Makes the handle of a live slot stale. The slot is taken until give().
    void make_stale(std::size_t index) noexcept {
        if constexpr (checks::caller) check_guards(index);
        slot_group& group = groups_[index / bits_per_word];
        group.live &= ~bit_at(index);
        ++group.generations[index % bits_per_word];
        --live_count_;
    }
    /// Frees a taken slot that was live.
    void give(std::size_t index) noexcept {
        if (generation_of(index) == first_generation_) [[unlikely]] {
            if constexpr (checks::caller) forbid(index);
            return; // it has had every generation
        }
        give_unused(index);
    }
    /// Frees a taken slot that had no handle.
    void give_unused(std::size_t index) noexcept {
        if constexpr (checks::caller) forbid(index);
        slot_group& group = groups_[index / bits_per_word];
        group.free |= bit_at(index);
        ++free_count_;
        const std::size_t word = index / bits_per_word / bits_per_word;
        summary_[word] |= bit_at(index / bits_per_word);
        if (word < lowest_word_) lowest_word_ = word;
    }

    [[nodiscard]] bool is_live(std::uint32_t index, std::uint32_t generation) const noexcept {
        return index < end_ && (generation & 1) != 0 &&
               groups_[index / bits_per_word].generations[index % bits_per_word] == generation;
    }
    [[nodiscard]] std::uint32_t generation_of(std::size_t index) const noexcept {
        return groups_[index / bits_per_word].generations[index % bits_per_word];
    }
    /// The first live slot from `index` on; end() if there is none.
    [[nodiscard]] std::size_t next_live(std::size_t index) const noexcept {
        if (index >= end_) return end_;
        std::size_t group = index / bits_per_word;
        bit_word live = groups_[group].live & ~low_bits(index % bits_per_word);
        while (live == 0) {
            if (++group * bits_per_word >= end_) return end_;
            live = groups_[group].live;
        }
        return group * bits_per_word + lowest_bit(live);
    }

    /// A walk over live slots, lowest first. It sees each slot as it is when the walk arrives at it.
    struct walk {
        std::size_t group = 0;
        bit_word left = 0; ///< of this group, from the walk's slot on; zero at the end
        [[nodiscard]] std::size_t index() const noexcept { return group * bits_per_word + lowest_bit(left); }
    };
    [[nodiscard]] walk first_live() const noexcept {
        walk at;
        if (end_ == 0) return at;
        at.left = groups_[0].live;
        if (at.left == 0) next_group(at);
        return at;
    }
    void go_on(walk& at) const noexcept {
        at.left = without_lowest_bit(at.left) & groups_[at.group].live;
        if (at.left == 0) next_group(at);
    }

    /// Returns the whole OS pages without a live or taken slot to the system. Returns   their bytes, touched or not.
    TENURE_API std::size_t trim() noexcept;
    /// Whether all records agree. Cost      O(slots).
    [[nodiscard]] TENURE_API bool valid() const noexcept;

    [[nodiscard]] std::uintptr_t objects() const noexcept { return objects_.begin(); }
    [[nodiscard]] std::size_t size() const noexcept { return live_count_; }
    [[nodiscard]] std::size_t end() const noexcept { return end_; }
    [[nodiscard]] std::size_t max_count() const noexcept { return max_count_; }
    /// From one object to the next. Checked builds have a guard in between.
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
    [[nodiscard]] bool contains(const void* pointer) const noexcept { return objects_.contains(pointer); }
    [[nodiscard]] const slot_group* groups() const noexcept { return groups_; }

private:
    friend struct pool_layout; // for debuggers: debug_layout.hpp
    [[nodiscard]] static constexpr std::uint32_t guard_behind(std::size_t bytes, std::size_t alignment) noexcept {
        // AddressSanitizer poisons units of 8 bytes.
        const std::size_t unit = checks::caller ? max_of<std::size_t>(alignment, 8) : alignment;
        return static_cast<std::uint32_t>(align_up(bytes + tail_guard_bytes, unit) - bytes);
    }
    [[nodiscard]] std::size_t object_bytes() const noexcept { return stride_ - guard_bytes_; }
    [[nodiscard]] std::uintptr_t object_at(std::size_t index) const noexcept {
        return objects_.begin() + index * stride_;
    }
    [[nodiscard]] std::size_t next_in_use(std::size_t index) const noexcept;
    void next_group(walk& at) const noexcept {
        while (at.left == 0 && ++at.group * bits_per_word < end_) at.left = groups_[at.group].live;
    }
    [[nodiscard]] std::size_t take_free() noexcept {
        std::size_t word = lowest_word_;
        while (summary_[word] == 0) ++word;
        lowest_word_ = word;
        const std::size_t at = word * bits_per_word + lowest_bit(summary_[word]);
        slot_group& group = groups_[at];
        const std::size_t bit = lowest_bit(group.free);
        group.free = without_lowest_bit(group.free);
        if (group.free == 0) summary_[word] = without_lowest_bit(summary_[word]);
        --free_count_;
        return at * bits_per_word + bit;
    }
    /// Makes the slots part of the report at the end of the program.
    TENURE_API void enlist() const noexcept;
    TENURE_API TENURE_COLD static void report_count(std::size_t max_count) noexcept;
    [[nodiscard]] TENURE_API bool grow() noexcept;
    TENURE_API void admit(std::size_t index) noexcept;
    TENURE_API void forbid(std::size_t index) noexcept;
    TENURE_API void check_guards(std::size_t index) const noexcept;
    TENURE_API void check_living() const noexcept;
    TENURE_API void swap(handle_slots& other) noexcept;

    slot_group* groups_ = nullptr;
    growing_range objects_;
    std::size_t end_ = 0;       ///< every slot below it was live at some time
    std::size_t ready_end_ = 0; ///< slots below it have committed memory
    std::size_t free_count_ = 0;
    bit_word* summary_ = nullptr;
    std::size_t lowest_word_ = 0; ///< no word of the summary before this one has a bit
    std::size_t live_count_ = 0;
    std::uint32_t first_generation_ = 0; ///< of every slot of this range, before its first object
    std::uint32_t guard_bytes_;          ///< behind each object; without checks only what the alignment adds
    std::size_t stride_;
    std::size_t alignment_;
    std::size_t max_count_;
    growing_range records_;
    [[no_unique_address]] sole_user user_;
};

}
