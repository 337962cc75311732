// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/affinity/affinity_group.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include <tenure/affinity/detail/affinity_guards.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/engine/leak_check.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

using detail::affinity_page_bytes;

namespace {

constexpr std::string_view free_advice =
    "Free each object once, to its own group, with the size that it was allocated with.";
constexpr std::string_view freed_without_size =
    "an object of a group with size_on_free::required was freed without its size";
constexpr std::string_view freed_without_size_advice =
    "Pass the size at every free, or create the group with size_on_free::optional.";

constexpr bool is_possible(const affinity_options& options) noexcept {
    return is_power_of_two(options.alignment) && options.alignment >= detail::affinity_least_granule &&
           options.alignment <= 1024 && is_power_of_two(options.block_bytes) &&
           options.block_bytes >= affinity_page_bytes && options.block_bytes <= (std::size_t{1} << 30);
}

constexpr std::string_view options_advice =
    "Check the ranges in affinity_options; a group for any thread needs a source for any thread.";
constexpr detail::sole_use one_thread{"affinity group", "A group serves one thread at a time unless it is created with "
                                                        "affinity_options::threads = sharing::any_thread."};
constexpr std::size_t default_alignment = 8;
constexpr std::size_t default_block_bytes = std::size_t{2} << 20;

constexpr affinity_options with_defaults(affinity_options options, std::size_t alignment = default_alignment,
                                         std::size_t block_bytes = default_block_bytes) noexcept {
    if (options.alignment == 0) options.alignment = alignment;
    if (options.block_bytes == 0) options.block_bytes = block_bytes;
    return options;
}

constexpr affinity_options possible(affinity_options options) noexcept {
    if (!is_possible(options)) options.alignment = default_alignment;
    if (!is_possible(options)) options.block_bytes = default_block_bytes;
    return options;
}

/// Halves the block size until the source can deliver a block at a multiple of its size.
affinity_options within(block_source& source, affinity_options options) noexcept {
    if (is_possible(options)) {
        while (options.block_bytes > affinity_page_bytes && options.block_bytes > source.max_bytes() / 2)
            options.block_bytes /= 2;
    }
    return options;
}

/// The options that a group uses: valid ones, within what the source can deliver.
affinity_options usable(block_source& source, const affinity_options& options) noexcept {
    return possible(within(source, with_defaults(options)));
}

[[nodiscard]] std::size_t part_bytes() noexcept {
    return align_up(sizeof(detail::affinity_part), platform::page_bytes());
}

void free_part(detail::affinity_part* part) noexcept { platform::unreserve(part, part_bytes()); }

detail::affinity_bits bits_for(const affinity_options& options) noexcept {
    const bool has_starts = checks::caller || options.sizes == size_on_free::optional;
    return detail::affinity_bits(detail::affinity_layout::of(options.block_bytes, options.alignment, has_starts));
}

detail::affinity_sizes sizes_for(const affinity_options& options) noexcept {
    return options.layout == page_layout::by_size ? detail::affinity_sizes::by_size(options.alignment)
                                                  : detail::affinity_sizes::mixed(options.alignment);
}

}

/// The lock of a shared group; groups of one thread take none. Misuse recorded meanwhile is reported after unlocking.
class affinity_group::shared_lock {
public:
    explicit shared_lock(const affinity_group& group) noexcept : group_(const_cast<affinity_group&>(group)) {
        if (group_.is_shared_) group_.mutex_.lock();
    }
    ~shared_lock() {
        if (group_.misuse_.empty()) [[likely]] {
            if (group_.is_shared_) group_.mutex_.unlock();
            return;
        }
        const detail::misuse_log noted = std::exchange(group_.misuse_, {});
        if (group_.is_shared_) group_.mutex_.unlock();
        noted.report();
    }
    shared_lock(const shared_lock&) = delete;
    shared_lock& operator=(const shared_lock&) = delete;

private:
    affinity_group& group_;
};

constinit const platform::fork_steps affinity_group::fork_steps{
    [](void* owner) noexcept {
        static_cast<affinity_group*>(owner)->mutex_.lock();
        static_cast<affinity_group*>(owner)->passthrough_.mutex().lock();
    },
    [](void* owner) noexcept {
        static_cast<affinity_group*>(owner)->passthrough_.mutex().unlock();
        static_cast<affinity_group*>(owner)->mutex_.unlock();
    },
    [](void* owner) noexcept {
        affinity_group& group = *static_cast<affinity_group*>(owner);
        group.mutex_.abandon();
        group.passthrough_.mutex().abandon();
        if (group.mutex_.is_mine()) return; // see shared_block_pool
        group.parts_.leave_to_child(group.part_of_this_thread());
    },
    [](void* owner) noexcept {
        affinity_group& group = *static_cast<affinity_group*>(owner);
        return group.mutex_.is_mine() || group.passthrough_.mutex().is_mine();
    },
};

affinity_group::affinity_group(std::string_view name, affinity_options options, block_source& source) noexcept
    : is_shared_(options.threads == sharing::any_thread), is_elsewhere_(passthrough_enabled(part::affinity)),
      bits_(bits_for(usable(source, options))), sizes_(sizes_for(usable(source, options))),
      options_(usable(source, options)), created_alignment_(options_.alignment),
      created_block_bytes_(possible(with_defaults(options)).block_bytes), name_(name), source_(&source),
      fork_(platform::fork_order::objects, this, fork_steps),
      blocks_(bits_, source, options.max_retained_bytes, misuse_), pages_(bits_, blocks_, misuse_),
      is_passthrough_(passthrough_enabled(part::affinity)),
      is_invalid_(!is_possible(with_defaults(options)) || (is_shared_ && source.threads() != sharing::any_thread)) {
    if (checks::caller && is_invalid_) {
        report_misuse("an affinity group was created with invalid options", this, options_advice);
    }
    if (is_shared_) {
        slot_ = platform::register_slot(this, [](void* group, void* part) noexcept {
            static_cast<affinity_group*>(group)->retire(*static_cast<thread_part*>(part));
        });
        fork_.enlist();
    }
    static constexpr detail::holder_kind as_holder{
        "affinity group", sizeof(affinity_group),
        [](const void* holder) noexcept {
            const auto& held = *static_cast<const affinity_group*>(holder);
            const std::uint64_t mark = detail::mixed(address_of(held.name_.data()), held.name_.size());
            return detail::mixed(mark, address_of(held.source_));
        },
        [](const void* holder, const detail::holder_facts&, detail::held_list& to) noexcept {
            const auto& held = *static_cast<const affinity_group*>(holder);
            const std::string_view named = detail::readable_name(held.name_);
            const bool is_free = to.patience().sees_free(held.mutex_) &&
                                 to.patience().sees_free(held.passthrough_.mutex()) &&
                                 held.large_.is_free(to.patience());
            if (!is_free) return to.add_busy("affinity group ", named, holder);
            const allocator_stats all = held.stats();
            to.add({"affinity group ", named, all.live_count, all.live_bytes});
        }};
    detail::add_holder(this, as_holder);
}

affinity_group::affinity_group(affinity_group&& other) noexcept
    : affinity_group(other.name_, other.options_, *other.source_) {
    struct both {
        affinity_group& left;
        affinity_group& right;
    } groups{*this, other};
    // Each group's contents come with the slot in which its threads keep their parts.
    platform::exchange_slot_owners(
        {slot_, &other}, {other.slot_, this},
        [](void* context) noexcept {
            const both& exchanged = *static_cast<both*>(context);
            exchanged.left.exchange(exchanged.right);
        },
        &groups);
    large_.take(other.large_);
    link_.take(other.link_, this);
}

affinity_group& affinity_group::operator=(affinity_group&& other) noexcept {
    if (this == &other) return *this;
    this->~affinity_group();
    return *::new (this) affinity_group(std::move(other));
}

/// Everything but the locks, the fork handlers and the heaps. Requires  this group was just created.
void affinity_group::exchange(affinity_group& other) noexcept {
    std::swap(is_elsewhere_, other.is_elsewhere_);
    std::swap(slot_, other.slot_);
    std::swap(bits_, other.bits_);
    std::swap(sizes_, other.sizes_);
    own_.exchange(other.own_);
    std::swap(options_, other.options_);
    std::swap(created_alignment_, other.created_alignment_);
    std::swap(created_block_bytes_, other.created_block_bytes_);
    std::swap(misuse_, other.misuse_);
    std::swap(parts_, other.parts_);
    std::swap(uncertain_objects_, other.uncertain_objects_);
    blocks_.exchange(other.blocks_);
    pages_.exchange(other.pages_);
    std::swap(is_passthrough_, other.is_passthrough_);
    std::swap(is_invalid_, other.is_invalid_);
    std::swap(functions_, other.functions_);
    function_count_.store(other.function_count_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
    passthrough_.take(other.passthrough_);
}

affinity_group::~affinity_group() {
    if constexpr (checks::structures) check_invariant(valid(), "affinity_group", this);
    if constexpr (checks::caller) check_living();
    detail::remove_holder(this);
    if (is_shared_) {
        fork_.delist();
        platform::unregister_slot(slot_);
    }
    parts_.for_each([](thread_part& part) { free_part(&part); });
}

/// The calling thread's part of a shared group. own_ serves threads that cannot have a part.
detail::affinity_part& affinity_group::open_part() noexcept {
    if (thread_part* const mine = part_of_this_thread(); mine != nullptr) return *mine;
    if (!platform::may_set_slot(slot_) || checks::caller) return own_;
    void* const memory = platform::map(part_bytes(), cache_line_bytes);
    if (memory == nullptr) return own_;
    auto* const part = new (memory) thread_part;
    if (!platform::set_slot(slot_, part)) {
        free_part(part);
        return own_;
    }
    const platform::lock_guard lock(mutex_);
    parts_.add(*part);
    return *part;
}

/// Takes over the memory of a thread that ends.
void affinity_group::retire(thread_part& part) noexcept {
    {
        const shared_lock lock(*this);
        part.release(pages_);
        own_.count(part.live_count.load(std::memory_order_relaxed));
        parts_.remove(part);
    }
    free_part(&part);
}

/// Takes over the memory of threads that the child of a fork does not have.
/// Requires  the lock of a shared group.
void affinity_group::reclaim_ownerless_parts() noexcept {
    while (thread_part* const part = parts_.pop_ownerless()) {
        for (detail::affinity_stream& each : part->streams) each.repair();
        part->release(pages_);
        own_.count(part->live_count.load(std::memory_order_relaxed));
        ++uncertain_objects_;
        free_part(part);
    }
}

/// Returns the memory that threads hold for their next objects to its pages.
/// Requires  the lock of a shared group, because threads may be ending; no other thread uses the group.
void affinity_group::release_parts() noexcept {
    reclaim_ownerless_parts();
    own_.release(pages_);
    parts_.for_each_owned([this](thread_part& part) { part.release(pages_); });
}

void* affinity_group::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of an affinity group", bytes);
    const detail::sole_call call(user_, one_thread, this, is_shared_);
    if (!call) return nullptr;
    check_alignment("An affinity group", alignment);
    if (!is_power_of_two(alignment) || bytes > tenure::max_object_bytes - alignment || is_invalid_) return nullptr;
    const std::size_t whole_alignment = std::max(alignment, options_.alignment);
    if (functions_.allocate != nullptr) {
        void* const object = functions_.allocate(functions_.context, std::max<std::size_t>(bytes, 1), whole_alignment);
        if (object != nullptr) function_count_.fetch_add(1, std::memory_order_relaxed);
        return object;
    }
    if (is_passthrough_) return passthrough_.allocate(std::max<std::size_t>(bytes, 1), whole_alignment);
    if (bytes > max_in_block_bytes() || alignment > max_block_alignment) {
        // At multiples of an OS page: a free without a size looks for large objects only there.
        heap* const large = large_.get_or_create(name_, *source_);
        return large != nullptr ? large->allocate(bytes, std::max(whole_alignment, max_block_alignment)) : nullptr;
    }
    thread_part& mine = open_part();
    size_entry entry = detail::affinity_entry(sizes_, bytes);
    // Pages of one size assume that objects follow each other without gaps.
    const bool is_in_order =
        alignment <= bits_.granule_bytes() || (alignment <= cache_line_bytes && entry.bytes % alignment == 0);
    if (!is_in_order) entry.stream = 0;
    detail::affinity_stream& stream = mine.streams[entry.stream];
    detail::affinity_run& extent = stream.extent;
    if (!checks::caller && is_exclusive(mine) && is_aligned(extent.begin, alignment) && entry.bytes <= extent.bytes()) {
        unsigned char* const object = std::exchange(extent.begin, extent.begin + entry.bytes);
        if (bits_.has_starts && entry.stream == 0) bits_.mark_end(extent.begin);
        mine.count(1);
        return object;
    }
    const detail::affinity_request wanted{entry.bytes, alignment};
    unsigned char* object = nullptr;
    const shared_lock lock(*this);
    while ((object = stream.allocate(pages_, wanted)) == nullptr)
        if (!refill(mine, stream, wanted)) return nullptr;
    mine.count(1);
    if constexpr (checks::caller) {
        stream.end_extent(pages_); // so that the bits are exact at every call
        platform::unpoison(object, std::max<std::size_t>(bytes, 1));
        detail::set_affinity_guard(object, bytes, entry.bytes);
    }
    return object;
}

/// Finds an extent for an object.
/// Returns   false when out of memory.
bool affinity_group::refill(thread_part& mine, detail::affinity_stream& stream,
                            detail::affinity_request wanted) noexcept {
    if (stream.refill_from_own(pages_, wanted)) return true;
    reclaim_ownerless_parts();
    if (stream.refill(pages_, wanted, detail::page_search::bounded)) return true;
    mine.release(pages_); // the thread may hold memory for other sizes
    return stream.refill(pages_, wanted, detail::page_search::all);
}

void affinity_group::deallocate(void* object) noexcept {
    if (object == nullptr) return;
    if (is_elsewhere_ || checks::caller || is_large(object, unknown_bytes, 1))
        return deallocate_slow(object, unknown_bytes, 1);
    const std::size_t bytes = bits_.object_bytes(object);
    if (bytes == 0) return report_misuse(freed_without_size, object, freed_without_size_advice);
    deallocate_in_block(static_cast<unsigned char*>(object),
                        {static_cast<std::uint16_t>(bytes), bits_.page_of(object).stream});
}

/// Frees a small object that is not adjacent to the memory that the thread freed last, when that needs no lock. Frees
/// of trees come here once for each inner node. Returns   false, and changes nothing, for other objects and for
/// nullptr.
TENURE_ALWAYS_INLINE bool affinity_group::deallocate_apart(void* object, std::size_t bytes) noexcept {
    thread_part* const mine = part_of_this_thread();
    if (checks::caller || bytes > table_limit_bytes || mine == nullptr || is_elsewhere_) return false;
    if (is_aligned(object, max_block_alignment)) return false; // nullptr, or perhaps large
    const size_entry entry = sizes_.in_table(bytes);
    auto* const begin = static_cast<unsigned char*>(object);
    if (!mine->streams[entry.stream].rewind_or_begin_freed(bits_, begin, begin + entry.bytes)) return false;
    mine->count(-1);
    return true;
}

void affinity_group::deallocate_slow(void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if (deallocate_apart(object, bytes)) [[likely]]
        return;
    deallocate_rest(object, bytes, alignment);
}

void affinity_group::deallocate_rest(void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if (object == nullptr) return;
    [[maybe_unused]] const detail::caller_release release("an object of an affinity group", object);
    const detail::sole_call call(user_, one_thread, this, is_shared_);
    if (!call) return;
    if (functions_.deallocate != nullptr) {
        function_count_.fetch_sub(1, std::memory_order_relaxed);
        functions_.deallocate(functions_.context, object, bytes == unknown_bytes ? 0 : std::max<std::size_t>(bytes, 1),
                              std::max(alignment, options_.alignment));
        return;
    }
    if (is_passthrough_) return passthrough_.deallocate(object);
    if (is_large(object, bytes, alignment)) {
        if (heap* const large = large_.get()) return deallocate_large(*large, object, bytes, alignment);
        report_misuse("a large object was freed to a group that has none", object, free_advice);
        return;
    }
    if constexpr (checks::caller) {
        const shared_lock lock(*this);
        return deallocate_checked(object, bytes);
    }
    deallocate_in_block(static_cast<unsigned char*>(object), sizes_.of(bytes));
}

void affinity_group::deallocate_in_block(unsigned char* object, size_entry entry) noexcept {
    unsigned char* const end = object + entry.bytes;
    thread_part* const opened = part_of_this_thread();
    if (opened != nullptr && opened->streams[entry.stream].extend_freed(object, end)) return opened->count(-1);
    thread_part& mine = open_part();
    detail::affinity_stream& stream = mine.streams[entry.stream];
    if (is_exclusive(mine) && stream.rewind_or_begin_freed(bits_, object, end)) return mine.count(-1);
    const shared_lock lock(*this);
    if (stream.contains_free(object)) return pages_.note_freed_twice(object);
    mine.count(-1);
    stream.flush_older(pages_);
    static_cast<void>(stream.rewind_or_begin_freed(bits_, object, end));
}

bool affinity_group::is_large(const void* object, std::size_t bytes, std::size_t alignment) const noexcept {
    if ((bytes != unknown_bytes && bytes > max_in_block_bytes()) || alignment > max_block_alignment) return true;
    // Most objects are in the group's blocks; that lookup takes no lock.
    return is_aligned(object, max_block_alignment) && !blocks_.owns(object) && large_.owns(object);
}

void affinity_group::deallocate_large(heap& large, void* object, std::size_t bytes, std::size_t alignment) noexcept {
    const bool is_checked = checks::caller && bytes != unknown_bytes;
    if (is_checked && bytes > max_in_block_bytes())
        return large.deallocate(object, bytes, std::max(alignment, max_block_alignment));
    if (is_checked && large.owns(object) && large.usable_size(object) > max_in_block_bytes())
        return report_misuse("a large object was freed with another size than it was allocated with", object,
                             free_advice);
    large.deallocate(object);
}

/// Cost      O(1): reads the bits and the records of the page and the block.
void affinity_group::deallocate_checked(void* object, std::size_t bytes) noexcept {
    const auto note = [&](std::string_view what, std::string_view advice = free_advice) {
        misuse_.add(what, object, advice);
    };
    if (!blocks_.owns(object))
        return note("a pointer that does not belong to the group was freed to an affinity group");
    const detail::affinity_page& page = bits_.page_of(object);
    if (!blocks_.is_intact(*bits_.block_of(object)) || page.free_granules > page.capacity)
        return misuse_.add(
            "the bookkeeping of a group's block was overwritten", bits_.block_of(object),
            "Look for a write before the start of an object, or past the end of one in the preceding block.");
    const bool is_granule = object >= bits_.begin_of(page) && is_aligned(object, bits_.granule_bytes());
    if (is_granule && (!page.is_used() || bits_.is_free(object)))
        return note("an object of an affinity group was freed twice, or never allocated",
                    is_shared_
                        ? "Look for a second owner of this object."
                        : "Look for a second owner of this object, and for two threads in a group of one thread.");
    if (!is_granule || !bits_.is_start(object))
        return note("a pointer that is not the start of an object was freed to an affinity group");
    if (bytes == unknown_bytes && options_.sizes == size_on_free::required)
        return note(freed_without_size, freed_without_size_advice);
    auto* const begin = static_cast<unsigned char*>(object);
    const std::size_t whole_bytes = bits_.object_bytes(object), allocated = check_guard(begin);
    const auto is_of_size = [&] {
        return allocated == 0 ? detail::affinity_entry(sizes_, bytes).bytes == whole_bytes
                              : sizes_.of(bytes).bytes == sizes_.of(allocated).bytes;
    };
    if (bytes != unknown_bytes && !is_of_size())
        return note("an object was freed with another size than it was allocated with");
    check_guard_in_front(begin);
    own_.count(-1);
    platform::poison_freed(object, whole_bytes);
    bits_.unmark_start(begin);
    pages_.free({begin, begin + whole_bytes});
}

/// Looks at the guards of all objects, before their memory goes.
void affinity_group::check_living() noexcept {
    const shared_lock lock(*this);
    blocks_.for_each_object([this](unsigned char* object) { static_cast<void>(check_guard(object)); });
}

void affinity_group::clear() noexcept {
    const detail::sole_call call(user_, one_thread, this, is_shared_);
    if (!call) return;
    if constexpr (checks::caller) check_living();
    passthrough_.free_all();
    if (heap* const large = large_.get()) large->clear();
    const shared_lock lock(*this);
    own_.clear();
    parts_.for_each([](thread_part& part) { part.clear(); });
    uncertain_objects_ = 0;
    pages_.clear();
}

std::size_t affinity_group::trim() noexcept {
    const detail::sole_call call(user_, one_thread, this, is_shared_);
    if (!call) return 0;
    heap* const large = large_.get();
    const std::size_t large_bytes = large != nullptr ? large->trim() : 0;
    const shared_lock lock(*this);
    const std::size_t reserved_before = blocks_.reserved_bytes();
    release_parts();
    const std::size_t decommitted = blocks_.trim();
    return large_bytes + decommitted + (reserved_before - blocks_.reserved_bytes());
}

bool affinity_group::owns(const void* pointer) const noexcept {
    return blocks_.owns(pointer) || large_.owns(pointer) || (is_passthrough_ && passthrough_.owns(pointer));
}

std::size_t affinity_group::size() const noexcept {
    const std::size_t others = passthrough_.count() + large_.stats().live_count;
    const shared_lock lock(*this);
    std::ptrdiff_t count = static_cast<std::ptrdiff_t>(pages_.freed_twice_count());
    count += own_.live_count.load(std::memory_order_relaxed);
    parts_.for_each([&](const thread_part& part) { count += part.live_count.load(std::memory_order_relaxed); });
    count += function_count_.load(std::memory_order_relaxed);
    return others + (count > 0 ? static_cast<std::size_t>(count) : 0);
}

allocator_stats affinity_group::stats() const noexcept {
    allocator_stats answer = large_.stats();
    answer.live_count = size();
    answer.live_bytes += passthrough_.bytes();
    const shared_lock lock(*this);
    blocks_.add_to(answer);
    if (is_shared_) return answer;
    for (const detail::affinity_stream& each : own_.streams) answer.live_bytes -= each.free_bytes();
    return answer;
}

affinity_usage affinity_group::usage() noexcept {
    const allocator_stats large = large_.stats();
    affinity_usage answer;
    answer.name = name_;
    answer.live_count = size();
    answer.large_count = large.live_count;
    answer.large_bytes = large.live_bytes;
    const shared_lock lock(*this);
    release_parts();
    blocks_.add_to(answer);
    return answer;
}

bool affinity_group::valid() noexcept {
    detail::affinity_census found;
    {
        const shared_lock lock(*this);
        release_parts();
        if (!large_.valid() || !blocks_.valid(found) || !pages_.valid(found)) return false;
    }
    if (!found.is_complete) return true;
    const std::size_t expected = size();
    const std::size_t counted = found.objects + (is_elsewhere_ ? expected : large_.stats().live_count);
    return (counted > expected ? counted - expected : expected - counted) <= uncertain_objects_;
}

bool affinity_group::is_unused() noexcept {
    if (size() != 0) return false;
    const shared_lock lock(*this);
    release_parts();
    return blocks_.reserved_bytes() == 0;
}

bool affinity_group::configure(const affinity_options& options, block_source& source) noexcept {
    affinity_options wanted = with_defaults(options, created_alignment_, created_block_bytes_);
    if (is_shared_) wanted.threads = sharing::any_thread;
    const bool is_for_one = source.threads() != sharing::any_thread;
    if (!is_possible(wanted) || (wanted.threads == sharing::any_thread && is_for_one)) {
        if (checks::caller)
            report_misuse("an affinity group was configured with invalid options", this, options_advice);
        return false;
    }
    if (!is_unused()) {
        if (checks::caller)
            report_misuse("an affinity group was configured after its first object", this,
                          "Configure the group before its first object, or free all objects and call trim().");
        return false;
    }
    const std::size_t created_alignment = created_alignment_, created_block_bytes = created_block_bytes_;
    const platform::lock_guard no_fork(platform::making_mutex()); // no fork may find the group half made
    const std::string_view name = name_;
    const affinity_functions functions = functions_;
    this->~affinity_group();
    ::new (this) affinity_group(name, wanted, source);
    functions_ = functions;
    is_elsewhere_ = is_passthrough_ || functions.allocate != nullptr;
    created_alignment_ = created_alignment;
    created_block_bytes_ = created_block_bytes;
    return true;
}

bool affinity_group::replace_with(const affinity_functions& functions) noexcept {
    if ((functions.allocate == nullptr) != (functions.deallocate == nullptr) || is_invalid_ || size() != 0)
        return false;
    const shared_lock lock(*this);
    release_parts();
    functions_ = functions;
    is_elsewhere_ = is_passthrough_ || functions.allocate != nullptr;
    return true;
}

}
