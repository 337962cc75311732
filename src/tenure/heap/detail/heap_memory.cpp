// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/heap_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include <tenure/base/check.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/platform/address_map.hpp>
#include <tenure/platform/process.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

/// The heads of all segments of all heaps, with their owners: the addresses that may be masked and read. The map is
/// outside the segments, because it is queried for addresses that their heap may be releasing. An odd owner marks the
/// head of a huge block. The upper bits of an owner, which no address uses, are the steps of the segment that are
/// mapped. The first addresses have entries of their own, which they keep: a small process does not touch the map. So
/// have those for which the map had no memory: a leaf takes 256 KiB, and at a limit of addresses the segment may have
/// got the last ones.
class head_map {
public:
    [[nodiscard]] bool set(const segment_head& head, void* owner) noexcept {
        if (first_.set(head, owner)) return true;
        const bool is_late = has_late_.load(std::memory_order_relaxed) && late_.find(&head) != nullptr;
        if (!is_late && others_.set(&head, owner)) return true;
        has_late_.store(true, std::memory_order_relaxed); // before the entry's owner is published
        return late_.set(head, owner);
    }
    void erase(const segment_head& head) noexcept {
        entry* found = first_.find(&head);
        if (found == nullptr && has_late_.load(std::memory_order_relaxed)) found = late_.find(&head);
        found != nullptr ? found->owner.store(nullptr, std::memory_order_release) : others_.erase(&head);
    }
    [[nodiscard]] void* get(const segment_head* head) noexcept {
        if (const entry* const found = first_.find(head); found != nullptr)
            return found->owner.load(std::memory_order_acquire);
        void* const owner = others_.get(head);
        return owner != nullptr || !has_late_.load(std::memory_order_relaxed) ? owner : get_late(head);
    }

private:
    struct entry {
        // The owner is released with what it owns; get() acquires it. The head says whose entry it is, and never
        // changes back.
        std::atomic<const void*> head{nullptr};
        std::atomic<void*> owner{nullptr};
    };
    template<std::size_t count>
    struct entries {
        entry each[count]{};

        [[nodiscard]] entry* find(const segment_head* head) noexcept {
            for (entry& one : each) {
                if (one.head.load(std::memory_order_relaxed) == head) return &one;
            }
            return nullptr;
        }
        /// Returns   false if the entries have other heads.
        [[nodiscard]] bool set(const segment_head& head, void* owner) noexcept {
            for (entry& one : each) {
                const void* present = one.head.load(std::memory_order_acquire);
                if (present == nullptr && one.head.compare_exchange_strong(present, &head)) present = &head;
                if (present != &head) continue;
                one.owner.store(owner, std::memory_order_release);
                return true;
            }
            return false;
        }
    };
    [[nodiscard]] TENURE_COLD void* get_late(const segment_head* head) noexcept {
        const entry* const found = late_.find(head);
        return found != nullptr ? found->owner.load(std::memory_order_acquire) : nullptr;
    }

    entries<4> first_;
    // Relaxed: set before the owner of a late entry is released; who has a block of that segment reads true.
    std::atomic<bool> has_late_{false};
    entries<16> late_;
    static platform::address_map others_;
};
constinit head_map known_heads{};
TENURE_BEHIND_OTHERS(9) constinit platform::address_map head_map::others_{};
static_assert(alignof(heap_memory) > 1);

constexpr unsigned steps_shift = 57;
constexpr std::uintptr_t owner_bits = (std::uintptr_t{1} << steps_shift) - 1;
static_assert(platform::user_address_bits <= steps_shift && max_segment_bytes / segment_step_bytes < 128);

[[nodiscard]] void* owner_of_huge(const heap_memory* owner) noexcept { return pointer_at(address_of(owner) + 1); }

/// Sets the class of slices.
void set_classes(segment_head& head, std::size_t begin_bytes, std::size_t end_bytes, std::uint8_t number) noexcept {
    std::memset(head.class_of_slice + begin_bytes / slice_bytes, number, (end_bytes - begin_bytes) / slice_bytes);
}

}

bool heap_memory::charge_limit(std::size_t bytes) noexcept {
    std::size_t reserved = reserved_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit_bytes_ - reserved) return false;
    } while (!reserved_bytes_.compare_exchange_weak(reserved, reserved + bytes, std::memory_order_relaxed));
    return true;
}

void* heap_memory::acquire(std::size_t bytes, std::size_t alignment) noexcept {
    if (!charge_limit(bytes)) return nullptr;
    const std::size_t whole_alignment = std::max(alignment, segment_bytes_);
    void* memory = nullptr;
    {
        const platform::lock_guard lock(mutex_);
        const untold_source untold;
        memory = source_.acquire(bytes, whole_alignment);
        if (!is_aligned(memory, whole_alignment)) [[unlikely]] {
            misaligned_.store(address_of(memory), std::memory_order_relaxed);
            source_.release(memory, bytes);
            memory = nullptr;
        }
    }
    if (memory == nullptr) {
        reserved_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        return nullptr;
    }
    blocks_.fetch_add(1, std::memory_order_relaxed);
    platform::add_leak_root(memory, bytes);
    return memory;
}

void heap_memory::write_misaligned() noexcept {
    const std::uintptr_t at = misaligned_.exchange(0, std::memory_order_relaxed);
    if (at == 0) return; // another thread has reported it
    report_misuse("a heap's block source ignored the alignment that was requested", pointer_at(at),
                  "The block was released. acquire() and remap() of the source must return multiples of `alignment`.");
}

void heap_memory::release(void* memory, std::size_t bytes) noexcept {
    if constexpr (checks::caller) platform::unpoison(memory, bytes);
    platform::remove_leak_root(memory, bytes);
    {
        const platform::lock_guard lock(mutex_);
        const untold_source untold;
        source_.release(memory, bytes);
    }
    blocks_.fetch_sub(1, std::memory_order_relaxed);
    reserved_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

bool heap_memory::extend(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (!charge_limit(new_bytes - old_bytes)) return false;
    const platform::lock_guard lock(mutex_);
    const untold_source untold;
    if (!source_.extend(memory, old_bytes, new_bytes)) {
        reserved_bytes_.fetch_sub(new_bytes - old_bytes, std::memory_order_relaxed);
        return false;
    }
    platform::remove_leak_root(memory, old_bytes);
    platform::add_leak_root(memory, new_bytes);
    return true;
}

/// Whether the source can extend blocks. A source that cannot is asked once.
bool heap_memory::can_extend(void* memory, std::size_t bytes) noexcept {
    const platform::lock_guard lock(mutex_);
    const untold_source untold;
    const bool can = source_.extend(memory, bytes, bytes);
    if (!can) is_rigid_.store(true, std::memory_order_relaxed);
    return can;
}

segment_head* heap_memory::acquire_segment(std::size_t preferred_bytes, std::size_t least_bytes,
                                           std::uint8_t class_of_all, std::size_t& mapped_bytes) noexcept {
    const bool is_rigid = is_rigid_.load(std::memory_order_relaxed);
    const std::size_t step = is_rigid ? segment_bytes_ : segment_step();
    // The smallest segments have no room for the longest page.
    const std::size_t least = std::min(align_up(least_bytes, step), segment_bytes_);
    std::size_t bytes = std::clamp(align_up(preferred_bytes, step), least, segment_bytes_);
    void* memory = acquire(bytes, segment_bytes_);
    while (memory == nullptr && bytes > least) {
        bytes = std::max(align_up(bytes / 2, step), least);
        memory = acquire(bytes, segment_bytes_);
    }
    if (memory == nullptr) return nullptr;
    if (bytes < segment_bytes_ && !can_extend(memory, bytes)) {
        release(memory, bytes);
        return is_rigid ? nullptr : acquire_segment(segment_bytes_, segment_bytes_, class_of_all, mapped_bytes);
    }
    auto* const head = static_cast<segment_head*>(memory);
    if (!announce_segment(*head, bytes)) {
        release(memory, bytes);
        return nullptr;
    }
    set_classes(*head, 0, bytes, class_of_all);
    set_classes(*head, bytes, max_segment_bytes, no_class);
    mapped_bytes = bytes;
    return head;
}

std::size_t heap_memory::extend_segment(segment_head& head, std::size_t mapped_bytes, std::size_t least_bytes,
                                        std::uint8_t class_of_all) noexcept {
    const std::size_t least = align_up(mapped_bytes + least_bytes, segment_step());
    if (least > segment_bytes_) return mapped_bytes;
    std::size_t bytes = std::min(std::max(2 * mapped_bytes, least), segment_bytes_);
    if (!extend(&head, mapped_bytes, bytes)) {
        if (bytes == least || !extend(&head, mapped_bytes, least)) return mapped_bytes;
        bytes = least;
    }
    set_classes(head, mapped_bytes, bytes, class_of_all);
    static_cast<void>(announce_segment(head, bytes)); // replaces the entry, which needs no memory
    return bytes;
}

bool heap_memory::shrink_segment(segment_head& head, std::size_t mapped_bytes, std::size_t new_bytes) noexcept {
    // Withdrawn first: others may get the addresses at once.
    static_cast<void>(announce_segment(head, new_bytes));
    if constexpr (checks::caller)
        platform::unpoison(pointer_at(address_of(&head) + new_bytes), mapped_bytes - new_bytes);
    {
        const platform::lock_guard lock(mutex_);
        const untold_source untold;
        if (!source_.shrink(&head, mapped_bytes, new_bytes)) {
            static_cast<void>(announce_segment(head, mapped_bytes));
            return false;
        }
    }
    set_classes(head, new_bytes, mapped_bytes, no_class);
    platform::remove_leak_root(&head, mapped_bytes);
    platform::add_leak_root(&head, new_bytes);
    reserved_bytes_.fetch_sub(mapped_bytes - new_bytes, std::memory_order_relaxed);
    return true;
}

void heap_memory::release_segment(segment_head& head, std::size_t mapped_bytes) noexcept {
    withdraw(head);
    release(&head, mapped_bytes);
}

/// Replaces memory that a source moved to a misaligned address. It cannot stay there, and the old address is gone.
TENURE_COLD void* heap_memory::copy_aligned(void* odd, std::size_t bytes) noexcept {
    misaligned_.store(address_of(odd), std::memory_order_relaxed);
    void* const memory = source_.acquire(bytes, segment_bytes_);
    if (memory == nullptr || !is_aligned(memory, segment_bytes_)) std::abort(); // the contents have no place
    std::memcpy(memory, odd, bytes);
    source_.release(odd, bytes);
    return memory;
}

void* heap_memory::remap(void* memory, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    const bool grows = new_bytes > old_bytes;
    if (grows && !charge_limit(new_bytes - old_bytes)) return nullptr;
    const platform::lock_guard lock(mutex_);
    const untold_source untold;
    platform::remove_leak_root(memory, old_bytes);
    void* moved = source_.remap(memory, old_bytes, new_bytes, segment_bytes_);
    if (!is_aligned(moved, segment_bytes_)) [[unlikely]]
        moved = copy_aligned(moved, new_bytes);
    const bool is_refused = moved == nullptr;
    platform::add_leak_root(is_refused ? memory : moved, is_refused ? old_bytes : new_bytes);
    if (grows && is_refused) reserved_bytes_.fetch_sub(new_bytes - old_bytes, std::memory_order_relaxed);
    if (!grows && !is_refused) reserved_bytes_.fetch_sub(old_bytes - new_bytes, std::memory_order_relaxed);
    return moved;
}

bool heap_memory::decommit(void* part, std::size_t bytes) noexcept {
    const platform::lock_guard lock(mutex_);
    const untold_source untold;
    return source_.decommit(part, bytes);
}

void heap_memory::clear(void* part, std::size_t bytes) noexcept {
    constexpr std::size_t step = std::size_t{2} << 20;
    const std::uintptr_t begin = address_of(part);
    const std::uintptr_t first = align_up(begin, step);
    const std::uintptr_t last = align_down(begin + bytes, step);
    if (bytes < 4 * step || !is_zeroed()) {
        std::memset(part, 0, bytes);
        return;
    }
    std::memset(part, 0, first - begin);
    for (std::uintptr_t at = first; at < last; at += step) {
        // Pieces that are hardly resident are decommitted, including their swap: touching a few pages again costs less.
        const bool is_there = platform::resident_bytes_in(pointer_at(at), step) > step / 4;
        if (is_there || !decommit(pointer_at(at), step)) std::memset(pointer_at(at), 0, step);
    }
    std::memset(pointer_at(last), 0, begin + bytes - last);
}

bool heap_memory::is_plentiful() const noexcept {
    return source_.max_bytes() >= max_object_bytes && limit_bytes_ >= max_object_bytes;
}

bool heap_memory::announce_segment(segment_head& head, std::size_t mapped_bytes) noexcept {
    const std::uintptr_t steps = mapped_bytes / segment_step();
    return known_heads.set(head, pointer_at(address_of(this) | steps << steps_shift));
}

bool heap_memory::announce_area(segment_head& head, std::uint8_t class_of_all) noexcept {
    set_classes(head, 0, max_segment_bytes, class_of_all);
    return announce_segment(head, max_segment_bytes);
}

bool heap_memory::announce_huge(segment_head& head) noexcept {
    set_classes(head, 0, max_segment_bytes, huge_class);
    return known_heads.set(head, owner_of_huge(this));
}

void heap_memory::withdraw(segment_head& head) noexcept { known_heads.erase(head); }

head_kind heap_memory::kind_of(const void* pointer) const noexcept {
    const std::uintptr_t entry = address_of(known_heads.get(segment_head::of(pointer, segment_bytes_)));
    if ((entry & owner_bits) == address_of(this)) {
        const std::size_t mapped_bytes = (entry >> steps_shift) * segment_step();
        return (address_of(pointer) & (segment_bytes_ - 1)) < mapped_bytes ? head_kind::segment : head_kind::none;
    }
    return entry == address_of(owner_of_huge(this)) ? head_kind::huge : head_kind::none;
}

void heap_memory::count_use(std::size_t bytes) noexcept {
    use_limit_.note_use(bytes);
    const std::size_t now = in_use_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
}

}
