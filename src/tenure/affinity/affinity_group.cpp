// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_group.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <tenure/affinity/detail/affinity_map.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/options.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

using detail::affinity_layout;
using detail::affinity_page_bytes;
using detail::freed_twice;
using detail::freed_twice_advice;

namespace {

constexpr bool is_possible(const affinity_options& options) noexcept {
    return is_power_of_two(options.alignment) && options.alignment >= 8 && options.alignment <= 1024 &&
           is_power_of_two(options.block_bytes) && options.block_bytes >= affinity_page_bytes &&
           options.block_bytes <= (std::size_t{1} << 30);
}

constexpr affinity_options possible(affinity_options options) noexcept {
    if (!is_possible(options)) options.alignment = affinity_options{}.alignment;
    if (!is_possible(options)) options.block_bytes = affinity_options{}.block_bytes;
    return options;
}

/// The rounded size where each size has its own pages: the next multiple of a cache line, if that adds at most an
/// eighth of it, so that no object is in two lines without need.
constexpr std::size_t apart_bytes(std::size_t bytes) noexcept {
    const std::size_t lines = align_up(bytes, cache_line_bytes);
    return (lines - bytes) * 8 <= lines ? lines : bytes;
}

/// Halves the block size until the source can deliver a block at a multiple of its size.
affinity_options within(block_source& source, affinity_options options) noexcept {
    if (is_possible(options)) {
        while (options.block_bytes > affinity_page_bytes && options.block_bytes > source.max_bytes() / 2)
            options.block_bytes /= 2;
    }
    return options;
}

/// Whether an address is in a stream's extent, or in a freed run whose bits are not yet set.
[[nodiscard]] bool is_free_in(const detail::affinity_stream& of, const unsigned char* at) noexcept {
    return (at >= of.next && at < of.end) || (at >= of.freed_begin && at < of.freed_end) ||
           (at >= of.before_begin && at < of.before_end);
}

/// Repairs a stream that its thread may have been writing when another thread forked. Freed runs are written without a
/// lock, one address at a time. The order of the writes guarantees two things. While a gap is closed, the "before" run
/// is inside the other. While a new run begins, it has only one end. A half-written run is dropped, and the object that
/// was just freed stays in use.
void make_sound(detail::affinity_stream& of) noexcept {
    if (of.freed_begin == nullptr || of.freed_end == nullptr) of.freed_begin = of.freed_end = nullptr;
    const bool is_whole = of.before_begin != nullptr && of.before_end != nullptr;
    const bool is_inside = of.before_begin >= of.freed_begin && of.before_end <= of.freed_end;
    if (!is_whole || is_inside) of.before_begin = of.before_end = nullptr;
    if (of.freed_begin != nullptr) return;
    of.freed_begin = of.before_begin; // "before" is used only while "freed" is
    of.freed_end = of.before_end;
    of.before_begin = of.before_end = nullptr;
}

[[nodiscard]] std::size_t part_bytes() noexcept {
    return align_up(sizeof(detail::affinity_part), platform::page_bytes());
}

void free_part(detail::affinity_part* part) noexcept { platform::unreserve(part, part_bytes()); }

affinity_layout layout_for(const affinity_options& options) noexcept {
    const bool has_starts = checks::caller || options.sizes == size_on_free::optional;
    return affinity_layout::of(options.block_bytes, std::max<std::size_t>(options.alignment, 8), has_starts);
}

}

/// A lock that only shared groups take. Misuse recorded under it is reported after unlocking.
class affinity_group::shared_lock {
public:
    explicit shared_lock(const affinity_group& group) noexcept : group_(const_cast<affinity_group&>(group)) {
        if (group_.is_shared_) group_.mutex_.lock();
    }
    ~shared_lock() {
        if (!group_.is_shared_) return;
        if (group_.misuse_.empty()) [[likely]] {
            group_.mutex_.unlock();
            return;
        }
        const detail::misuse_log noted = std::exchange(group_.misuse_, {});
        group_.mutex_.unlock();
        noted.report();
    }
    shared_lock(const shared_lock&) = delete;
    shared_lock& operator=(const shared_lock&) = delete;

private:
    affinity_group& group_;
};

/// Records misuse to report after the lock is released; reports at once if there is no lock.
void affinity_group::note_misuse(std::string_view what, const void* at, std::string_view advice) noexcept {
    if (!is_shared_) return report_misuse(what, at, advice);
    misuse_.add(what, at, advice);
}

constinit const platform::fork_steps affinity_group::fork_steps{
    [](void* owner) noexcept {
        static_cast<affinity_group*>(owner)->mutex_.lock();
        static_cast<affinity_group*>(owner)->passthrough_.mutex().lock();
    },
    [](void* owner) noexcept {
        static_cast<affinity_group*>(owner)->passthrough_.mutex().unlock();
        static_cast<affinity_group*>(owner)->mutex_.unlock();
    },
    [](void* owner) noexcept { static_cast<affinity_group*>(owner)->leave_to_child(); },
};

affinity_group::affinity_group(std::string_view name, affinity_options options, block_source& source) noexcept
    : is_shared_(options.threads == sharing::any_thread),
      has_starts_(checks::caller || options.sizes == size_on_free::optional),
      layout_(layout_for(possible(within(source, options)))), options_(possible(within(source, options))), name_(name),
      source_(source), fork_(platform::fork_order::objects, this, fork_steps),
      is_passthrough_(passthrough_enabled(part::affinity)),
      is_invalid_(!is_possible(options) || (is_shared_ && source.threads() != sharing::any_thread)) {
    if (checks::caller && is_invalid_) {
        report_misuse("an affinity group was created with invalid options", this,
                      "Check the ranges in affinity_options; a group for any thread needs a source for any thread.");
    }
    const std::size_t granule = layout_.granule_bytes();
    for (std::size_t index = 0; index < stream_count; ++index) {
        const std::size_t bytes = std::max<std::size_t>(index * 8, 1);
        const bool is_apart = options_.layout == page_layout::by_size;
        const std::size_t whole = align_up(bytes, granule);
        const std::size_t taken = is_apart ? align_up(apart_bytes(whole), granule) : whole;
        table_[index] = {static_cast<std::uint16_t>(taken), static_cast<std::uint16_t>(is_apart ? taken / 8 : 0)};
    }
    // Sizes that round up past the table have no stream of their own.
    for (size_entry& entry : table_)
        if (entry.stream >= stream_count) entry.stream = 0;
    if (is_shared_) {
        slot_ = platform::register_slot(this, [](void* group, void* part) noexcept {
            static_cast<affinity_group*>(group)->retire(*static_cast<thread_part*>(part));
        });
        fork_.enlist();
    }
}

affinity_group::~affinity_group() {
    if constexpr (checks::structures) check_invariant(valid(), "affinity_group", this);
    if (is_shared_) {
        fork_.delist();
        platform::unregister_slot(slot_);
    }
    parts_.for_each([](thread_part& part) { free_part(&part); });
    while (blocks_ != nullptr) release_block(blocks_);
    if (heap* const large = large_.load(std::memory_order_relaxed)) large->~heap();
}

/// The calling thread's part of a shared group. own_ serves threads that cannot have a part.
detail::affinity_part* affinity_group::open_part() noexcept {
    if (thread_part* const mine = part_of_this_thread(); mine != nullptr) return mine;
    if (!platform::may_set_slot(slot_) || checks::caller) return &own_;
    void* const memory = platform::map(part_bytes(), cache_line_bytes);
    if (memory == nullptr) return &own_;
    auto* const part = new (memory) thread_part;
    if (!platform::set_slot(slot_, part)) {
        free_part(part);
        return &own_;
    }
    const platform::lock_guard lock(mutex_);
    parts_.add(*part);
    return part;
}

void affinity_group::retire(thread_part& part) noexcept {
    {
        const shared_lock lock(*this);
        settle_part(part);
        own_.count(part.live_count.load(std::memory_order_relaxed));
        parts_.remove(part);
    }
    free_part(&part);
}

/// Handler in the child of a fork. Writes only links in the parts of the parent's other threads, because most children
/// soon run another program.
void affinity_group::leave_to_child() noexcept {
    mutex_.abandon();
    passthrough_.mutex().abandon();
    parts_.leave_to_child(part_of_this_thread());
}

/// Dissolves the parts of threads that the child of a fork does not have.
/// Requires  the lock of a shared group.
void affinity_group::settle_ownerless() noexcept {
    while (thread_part* const part = parts_.pop_ownerless()) {
        for (stream& each : part->streams) make_sound(each);
        settle_part(*part);
        own_.count(part->live_count.load(std::memory_order_relaxed));
        ++uncertain_objects_;
        free_part(part);
    }
}

std::size_t affinity_group::rounded(std::size_t bytes) const noexcept {
    return bytes <= table_limit_bytes ? table_[(bytes + 7) / 8].bytes : align_up(bytes, layout_.granule_bytes());
}

affinity_group::size_entry affinity_group::entry_for(std::size_t bytes) const noexcept {
    if (bytes <= table_limit_bytes) return table_[(bytes + 7) / 8];
    return {static_cast<std::uint16_t>(rounded(bytes)), 0};
}

void* affinity_group::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of an affinity group", bytes);
    if (!is_power_of_two(alignment) || bytes > tenure::max_object_bytes - alignment || is_invalid_) return nullptr;
    const std::size_t whole_alignment = std::max(alignment, options_.alignment);
    if (functions_.allocate != nullptr) {
        void* const object = functions_.allocate(functions_.context, std::max<std::size_t>(bytes, 1), whole_alignment);
        if (object != nullptr) function_count_.fetch_add(1, std::memory_order_relaxed);
        return object;
    }
    if (is_passthrough_) return passthrough_.allocate(std::max<std::size_t>(bytes, 1), whole_alignment);
    if (bytes > max_in_block_bytes() || alignment > max_block_alignment) return allocate_large(bytes, whole_alignment);
    thread_part& mine = *open_part();
    size_entry entry = entry_for(bytes);
    // Pages of one size assume that objects follow each other without gaps.
    const bool is_in_order =
        alignment <= layout_.granule_bytes() || (alignment <= cache_line_bytes && entry.bytes % alignment == 0);
    if (!is_in_order) entry.stream = 0;
    stream& from = mine.streams[entry.stream];
    const bool is_ours = !is_shared_ || &mine != &own_; // otherwise shared by all threads without a part
    if (!checks::caller && is_ours && from.next != nullptr && is_aligned(from.next, alignment) &&
        entry.bytes <= static_cast<std::size_t>(from.end - from.next)) {
        unsigned char* const object = std::exchange(from.next, from.next + entry.bytes);
        if (has_starts_ && entry.stream == 0) mark_end(from.next);
        mine.count(1);
        return object;
    }
    const shared_lock lock(*this);
    auto* object = static_cast<unsigned char*>(pointer_at(align_up(address_of(from.next), alignment)));
    while (from.next == nullptr || object > from.end || entry.bytes > static_cast<std::size_t>(from.end - object)) {
        if (!refill(mine, entry.stream, {entry.bytes, alignment})) return nullptr;
        object = static_cast<unsigned char*>(pointer_at(align_up(address_of(from.next), alignment)));
    }
    if (object != from.next) {
        unsigned char* const gap = from.next;
        from.next = object;
        free_run(gap, object);
        if (has_starts_) mark_start(object);
    }
    from.next = object + entry.bytes;
    if (has_starts_ && (entry.stream == 0 || checks::caller)) mark_end(from.next);
    mine.count(1);
    if constexpr (checks::caller) {
        abandon_extent(from); // so that the bits are exact at every call
        mine.scanned[entry.stream] = granule_in_page(object + entry.bytes - 1);
        platform::unpoison(object, entry.bytes);
    }
    return object;
}

void* affinity_group::allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
    heap* large = large_.load(std::memory_order_acquire);
    if (large == nullptr) {
        const platform::lock_guard lock(platform::making_mutex());
        large = large_.load(std::memory_order_relaxed);
        if (large == nullptr) {
            large = new (large_memory_) heap({.name = name_}, source_);
            large_.store(large, std::memory_order_release);
        }
    }
    // At multiples of an OS page: a free without a size looks for large objects only there.
    return large->allocate(bytes, std::max(alignment, max_block_alignment));
}

bool affinity_group::is_large(const void* object, std::size_t bytes, std::size_t alignment) const noexcept {
    if ((bytes != unknown_bytes && bytes > max_in_block_bytes()) || alignment > max_block_alignment) return true;
    if (!is_aligned(object, max_block_alignment)) return false;
    const heap* const large = large_.load(std::memory_order_acquire);
    // Most objects are in the group's blocks; that lookup takes no lock.
    return large != nullptr && detail::affinity_owners.get(object) != this && large->owns(object);
}

/// Bytes that an object in a block takes. Zero if the group does not record it.
std::size_t affinity_group::bytes_of(const void* object) const noexcept {
    const detail::affinity_page& home = layout_.page_of(object);
    if (home.stream != 0) return std::size_t{home.stream} * 8;
    if (!has_starts_) return 0;
    detail::affinity_block* const in = layout_.block_of(object);
    const bit_word* const starts = layout_.start_bits(in);
    const bit_word* const free = layout_.free_bits(in);
    const std::size_t first = layout_.granule_of(object);
    const std::size_t end = layout_.granule_of(layout_.end_of(home) - 1) + 1;
    std::size_t granule = first + 1;
    while (granule < end) {
        const std::size_t word = granule / bits_per_word;
        const bit_word is_free = detail::load_bits(free[word], std::memory_order_acquire);
        const bit_word begins = detail::load_bits(starts[word], std::memory_order_acquire);
        const bit_word bits = (begins | is_free) >> (granule % bits_per_word);
        if (bits != 0) {
            granule += lowest_bit(bits);
            break;
        }
        granule = (word + 1) * bits_per_word;
    }
    return (std::min(granule, end) - first) << layout_.granule_shift;
}

void affinity_group::deallocate(void* object) noexcept {
    if (object == nullptr) return;
    const bool is_elsewhere = functions_.deallocate != nullptr || is_passthrough_ || is_large(object, unknown_bytes, 1);
    if (is_elsewhere || checks::caller) return deallocate_slow(object, unknown_bytes, 1);
    const std::size_t bytes = bytes_of(object);
    if (bytes == 0) {
        report_misuse("an object of a group with size_on_free::required was freed without its size", object,
                      "Pass the size at every free, or create the group with size_on_free::optional.");
        return;
    }
    thread_part* const mine = part_of_this_thread();
    const size_entry entry{static_cast<std::uint16_t>(bytes), layout_.page_of(object).stream};
    if (mine == nullptr || !free_beside(*mine, entry, static_cast<unsigned char*>(object))) free_apart(object, entry);
}

void affinity_group::free_large(heap& large, void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if constexpr (checks::caller) {
        const bool is_known = bytes != unknown_bytes;
        if (is_known && bytes > max_in_block_bytes())
            return large.deallocate(object, bytes, std::max(alignment, max_block_alignment));
        if (is_known && large.owns(object) && large.usable_size(object) > max_in_block_bytes()) {
            report_misuse("a large object was freed with another size than it was allocated with", object,
                          "Free each object once, to its own group, with the size that it was allocated with.");
            return;
        }
    }
    large.deallocate(object);
}

void affinity_group::deallocate_slow(void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if (object == nullptr) return;
    if (functions_.deallocate != nullptr) {
        function_count_.fetch_sub(1, std::memory_order_relaxed);
        functions_.deallocate(functions_.context, object, bytes == unknown_bytes ? 0 : std::max<std::size_t>(bytes, 1),
                              std::max(alignment, options_.alignment));
        return;
    }
    if (is_passthrough_) return passthrough_.deallocate(object);
    if (is_large(object, bytes, alignment)) {
        heap* const large = large_.load(std::memory_order_acquire);
        if (large != nullptr) return free_large(*large, object, bytes, alignment);
        report_misuse("a large object was freed to a group that has none", object,
                      "Free each object to its own group, with the size that it was allocated with.");
        return;
    }
    if constexpr (checks::caller) {
        const shared_lock lock(*this);
        return deallocate_checked(object, bytes);
    }
    const size_entry entry = entry_for(bytes);
    thread_part* const mine = part_of_this_thread();
    if (mine == nullptr || !free_beside(*mine, entry, static_cast<unsigned char*>(object))) free_apart(object, entry);
}

/// Frees the object that was allocated last, or begins a new run if there is room for one.
/// Returns   false, and changes nothing, for any other object.
bool affinity_group::free_quickly(stream& of, size_entry entry, unsigned char* begin) noexcept {
    unsigned char* const end = begin + entry.bytes;
    if (is_free_in(of, begin)) return false;
    if (end == of.next && (address_of(end) & (affinity_page_bytes - 1)) != 0) {
        // Only inside the extent's page: at a page boundary the object may be in the page before. At the end of the
        // extent another object may begin.
        if (has_starts_ && entry.stream == 0 && end != of.end) unmark_start(end);
        of.next = begin;
        return true;
    }
    if (of.before_begin != nullptr) return false;
    // This order matters to the child of a fork: make_sound().
    of.before_begin = of.freed_begin;
    of.before_end = of.freed_end;
    std::atomic_signal_fence(std::memory_order_release);
    of.freed_end = nullptr;
    std::atomic_signal_fence(std::memory_order_release);
    of.freed_begin = begin;
    std::atomic_signal_fence(std::memory_order_release);
    of.freed_end = end;
    if (of.before_begin == nullptr) return true;
    // These bits are written when a third run begins; prefetch them now.
    const unsigned char* const next = of.before_begin;
    prefetch_for_write(&layout_.page_of(next));
    prefetch_for_write(layout_.free_bits(layout_.block_of(next)) + layout_.granule_of(next) / bits_per_word);
    return true;
}

/// Frees an object that is not adjacent to the memory that the thread freed last.
void affinity_group::free_apart(void* object, size_entry entry) noexcept {
    thread_part& mine = *open_part();
    auto* const begin = static_cast<unsigned char*>(object);
    stream& of = mine.streams[entry.stream];
    const bool is_ours = !is_shared_ || &mine != &own_; // otherwise shared by all threads without a part
    if (is_ours && free_quickly(of, entry, begin)) return mine.count(-1);
    const shared_lock lock(*this);
    if (is_free_in(of, begin)) return note_misuse(freed_twice, object, freed_twice_advice);
    mine.count(-1);
    flush_before(of);
    static_cast<void>(free_quickly(of, entry, begin));
}

void affinity_group::clear() noexcept {
    passthrough_.free_all();
    if (heap* const large = large_.load(std::memory_order_acquire)) large->clear();
    const shared_lock lock(*this);
    const auto forget = [](thread_part& part) noexcept {
        part.live_count.store(0, std::memory_order_relaxed);
        for (std::size_t index = 0; index < stream_count; ++index) {
            part.streams[index] = {};
            part.taken[index] = nullptr;
        }
    };
    forget(own_);
    uncertain_objects_ = 0;
    parts_.for_each(forget);
    for (block* each = blocks_; each != nullptr; each = each->next) forget_block(*each);
    std::fill(std::begin(partial_), std::end(partial_), nullptr);
    std::fill(std::begin(filed_), std::end(filed_), nullptr);
    filed_classes_ = 0;
    empty_ = nullptr;
    newest_ = blocks_;
    used_pages_ = 0;
    empty_block_count_ = block_count_;
}

bool affinity_group::owns(const void* pointer) const noexcept {
    if (detail::affinity_owners.get(pointer) == this) return true;
    const heap* const large = large_.load(std::memory_order_acquire);
    return (large != nullptr && large->owns(pointer)) || (is_passthrough_ && passthrough_.owns(pointer));
}

std::size_t affinity_group::size() const noexcept {
    const std::size_t others = passthrough_.count() + large_count();
    const shared_lock lock(*this);
    std::ptrdiff_t count = own_.live_count.load(std::memory_order_relaxed);
    parts_.for_each([&](const thread_part& part) { count += part.live_count.load(std::memory_order_relaxed); });
    count += function_count_.load(std::memory_order_relaxed);
    return others + (count > 0 ? static_cast<std::size_t>(count) : 0);
}

bool affinity_group::set_block_bytes(std::size_t bytes) noexcept {
    const shared_lock lock(*this);
    affinity_options wanted = options_;
    wanted.block_bytes = bytes;
    if (blocks_ != nullptr || is_invalid_ || !is_possible(wanted)) return false;
    wanted = within(source_, wanted);
    options_ = wanted;
    layout_ = layout_for(options_);
    return true;
}

bool affinity_group::replace_with(const affinity_functions& functions) noexcept {
    if ((functions.allocate == nullptr) != (functions.deallocate == nullptr) || is_invalid_ || size() != 0)
        return false;
    settle_all();
    functions_ = functions;
    return true;
}

}
