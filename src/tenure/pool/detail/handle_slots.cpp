// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/pool/detail/handle_slots.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/check.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/pool/detail/debug_layout.hpp>
#include <tenure/pool/detail/pool_leaks.hpp>

namespace tenure::inline TENURE_ABI::detail {

constinit const sole_use one_thread_in_slots{
    "handle_pool", "A handle_pool serves one thread at a time: hold a lock during every construct() and destroy()."};

namespace {

constinit std::atomic<std::uint32_t> range_count{0}; // relaxed: each range gets another number

// Consecutive multiples of a fraction near the golden ratio lie far apart: the first generations of P ranges, P up to
// 50 million, differ by 2^31 / (5 * P) uses of a slot or more. The continued fraction of step / 2^31 has no term above
// 3 until then (Knuth, The Art of Computer Programming, volume 3, section 6.4, theorem S).
constexpr std::uint32_t generation_step = 1'327'217'237;

/// Even, and different for the first 2^31 ranges of the process.
std::uint32_t next_first_generation() noexcept {
    return range_count.fetch_add(1, std::memory_order_relaxed) * generation_step * 2;
}

}

void handle_slots::enlist() const noexcept {
    TENURE_KEEP(tenure_debug_pool_layout);
    // Slots exchange the rest of their members when they move; these two are those of the type.
    static constexpr holder_kind as_holder{"handle_pool", sizeof(handle_slots),
                                           [](const void* holder) noexcept {
                                               const auto& held = *static_cast<const handle_slots*>(holder);
                                               return mixed(mixed(1, held.stride_), held.alignment_);
                                           },
                                           [](const void* holder, const holder_facts& facts, held_list& to) noexcept {
                                               const auto& held = *static_cast<const handle_slots*>(holder);
                                               // Other members may have been overwritten alone.
                                               if (held.live_count_ > held.end_ || held.end_ > held.max_count_)
                                                   return to.add_lost("handle_pool", holder);
                                               add_pool(to, "handle_pool of ", held.object_bytes(), facts.type,
                                                        held.size());
                                           }};
    add_holder(this, as_holder);
}

bool handle_slots::grow() noexcept {
    if (end_ == max_count_ || max_count_ > max_slots || max_count_ > max_object_bytes / stride_) return false;
    const std::size_t max_groups = words_for(max_count_);
    const std::size_t summary_bytes = words_for(max_groups) * sizeof(bit_word);
    const std::size_t groups = end_ / bits_per_word + 1;
    const std::size_t record_bytes = summary_bytes + groups * sizeof(slot_group);
    const std::size_t max_record_bytes = summary_bytes + max_groups * sizeof(slot_group);
    if (!records_.grow(record_bytes, max_record_bytes, alignof(slot_group))) return false;
    summary_ = static_cast<bit_word*>(pointer_at(records_.begin()));
    groups_ = static_cast<slot_group*>(pointer_at(records_.begin() + summary_bytes));
    const std::size_t before = objects_.committed_bytes();
    if (!objects_.grow((end_ + 1) * stride_, max_count_ * stride_, alignment_)) return false;
    if constexpr (checks::caller)
        platform::poison(pointer_at(objects_.begin() + before), objects_.committed_bytes() - before);
    const std::size_t ready_groups = (records_.committed_bytes() - summary_bytes) / sizeof(slot_group);
    if (end_ == 0) first_generation_ = next_first_generation();
    ready_end_ = std::min({objects_.committed_bytes() / stride_, ready_groups * bits_per_word, max_count_});
    return true;
}

void handle_slots::admit(std::size_t index) noexcept {
    const std::uintptr_t object = object_at(index);
    platform::unpoison(pointer_at(object), object_bytes());
    set_tail_guard(object + object_bytes(), object + stride_);
}

void handle_slots::forbid(std::size_t index) noexcept {
    platform::poison_freed(pointer_at(object_at(index)), object_bytes());
}

/// Looks at the guard behind an object, and at the one in front of it, which is whole unless trim() dropped it.
void handle_slots::check_guards(std::size_t index) const noexcept {
    const auto check = [this](std::size_t which) {
        const std::uintptr_t object = object_at(which), guard = object + object_bytes();
        if (!is_tail_guard_whole(guard, object + stride_)) [[unlikely]]
            report_tail_guard("handle_pool", object, object_bytes(), object + stride_, behind_guard::a_block);
    };
    if (index != 0 && next_in_use(index - 1) == index - 1) check(index - 1);
    check(index);
}

/// Looks at the guards of all live objects, before their memory goes.
void handle_slots::check_living() const noexcept {
    for (std::size_t index = next_live(0); index < end_; index = next_live(index + 1)) check_guards(index);
}

/// The first slot from `index` on that is not free; end() if there is none.
std::size_t handle_slots::next_in_use(std::size_t index) const noexcept {
    while (index < end_) {
        const std::size_t group = index / bits_per_word;
        const bit_word in_use = ~groups_[group].free & ~low_bits(index % bits_per_word);
        if (in_use != 0) return std::min(group * bits_per_word + lowest_bit(in_use), end_);
        index = (group + 1) * bits_per_word;
    }
    return end_;
}

std::size_t handle_slots::trim() noexcept {
    const sole_call call = begin_call();
    if (!call) return 0;
    std::size_t bytes = 0;
    std::size_t free_from = 0;
    for (std::size_t used = next_in_use(0);; used = next_in_use(used + 1)) {
        const bool is_last = used >= end_;
        bytes += objects_.decommit(free_from * stride_, is_last ? objects_.committed_bytes() : used * stride_);
        if (is_last) return bytes;
        free_from = used + 1;
    }
}

bool handle_slots::valid() const noexcept {
    std::size_t live = 0;
    std::size_t free = 0;
    for (std::size_t group = 0; group * bits_per_word < end_; ++group) {
        const slot_group& each = groups_[group];
        const bit_word used = low_bits(std::min(end_ - group * bits_per_word, bits_per_word));
        if ((each.live & each.free) != 0 || ((each.live | each.free) & ~used) != 0) return false;
        if (((summary_[group / bits_per_word] & bit_at(group)) != 0) != (each.free != 0)) return false;
        if (each.free != 0 && group / bits_per_word < lowest_word_) return false;
        for (std::size_t bit = 0; bit < bits_per_word; ++bit)
            if (((each.live & bit_at(bit)) != 0) != ((each.generations[bit] & 1) != 0)) return false;
        live += count_bits(each.live);
        free += count_bits(each.free);
    }
    return live == live_count_ && free == free_count_ && end_ <= ready_end_ && ready_end_ <= max_count_;
}

void handle_slots::swap(handle_slots& other) noexcept {
    std::swap(groups_, other.groups_);
    std::swap(objects_, other.objects_);
    std::swap(end_, other.end_);
    std::swap(ready_end_, other.ready_end_);
    std::swap(free_count_, other.free_count_);
    std::swap(summary_, other.summary_);
    std::swap(lowest_word_, other.lowest_word_);
    std::swap(live_count_, other.live_count_);
    std::swap(first_generation_, other.first_generation_);
    std::swap(guard_bytes_, other.guard_bytes_);
    std::swap(stride_, other.stride_);
    std::swap(alignment_, other.alignment_);
    std::swap(max_count_, other.max_count_);
    std::swap(records_, other.records_);
}

void handle_slots::report_count(std::size_t max_count) noexcept {
    report_argument("The constructor of handle_pool", "max_count", max_count, "A pool has at most 2^32 objects.");
}

}
