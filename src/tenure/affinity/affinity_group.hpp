// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Affinity group: objects of mixed sizes that are visited together, stored together in allocation order.
///
/// Use it for     scene graphs, trees, meshes of small objects. Use one group per kind of traversal, so that objects
///                that a traversal skips do not lie between objects that it visits.
/// Not for        many objects of one type: pool/pool.hpp. Large objects or objects visited alone: heap/heap.hpp.
/// Memory from    a block source, in naturally aligned blocks of 2 MiB, touched as they are used. trim() returns empty
///                blocks. Empty blocks beyond options.max_retained_bytes are returned at once. Objects larger than
///                max_in_block_bytes() come from a heap that belongs to the group.
/// Cost           allocate and deallocate O(1): an add and a compare. A call that moves to another page of 64 KiB, or
///                to another free run in a page, also processes up to 128 words of bits (256 at alignment 4). Before
///                allocate fails, it searches all pages that may have room. clear O(blocks), and it empties their bits.
/// Overhead       no header. Sizes are rounded up to the alignment. Free memory is recorded by one bit per 8 bytes
///                (4 at alignment 4), only in pages where an object was freed. size_on_free::optional needs one more
///                such bit: at most 4 bytes per object up to 256 bytes, and 1.6 % above (3.1 % at alignment 4). No
///                object crosses a page of 64 KiB; the rest of a page that is too small for the next object stays
///                unused. page_layout::by_size rounds a size just below a multiple of a cache line up to it, and sets
///                aside up to seven more pages for a size that uses one: resident memory only with huge pages.
///                The group object has 11 KiB, and so has the memory of each thread that uses a shared group. Checked
///                builds: at least 16 bytes behind each object.
/// Threads        one at a time; with sharing::any_thread any number, and a call takes a lock only when the thread's
///                own memory does not suffice. The functions below state exceptions.
///                Checked builds report calls that overlap. The ends of threads and forks visit a group for any thread:
///                it must be destroyed before its own memory goes away, as when a plug-in is unloaded.
/// Fork           usable in the child. Without sharing::any_thread, no other thread may be using the group during the
///                fork. With it, the child may lose one object for each other thread that was allocating or freeing
///                during the fork, and size() may be off by as many.
/// When full      asks the source for a block; if that fails, returns nullptr and changes nothing.
/// Example        examples/affinity.cpp

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tenure/affinity/affinity_usage.hpp>
#include <tenure/affinity/detail/affinity_bits.hpp>
#include <tenure/affinity/detail/affinity_blocks.hpp>
#include <tenure/affinity/detail/affinity_large.hpp>
#include <tenure/affinity/detail/affinity_pages.hpp>
#include <tenure/affinity/detail/affinity_sizes.hpp>
#include <tenure/affinity/detail/affinity_stream.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/owner_home.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/base/typed.hpp>
#include <tenure/engine/misuse_log.hpp>
#include <tenure/engine/passthrough_blocks.hpp>
#include <tenure/engine/sole_user.hpp>
#include <tenure/engine/thread_parts.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI {

/// Whether frees must pass the size.
enum class size_on_free : std::uint8_t {
    optional, ///< any free may omit the size: the group records where objects begin
    required, ///< every free passes the size or the type; the group records nothing
};

/// How objects of different sizes are placed.
enum class page_layout : std::uint8_t {
    mixed,   ///< one after the other, in allocation order
    by_size, ///< each size up to 512 bytes (256 at alignment 4) has its own pages, where no object crosses a cache line
             ///< without need
};

/// Group configuration.
struct affinity_options {
    std::size_t alignment = 0;   ///< minimum alignment of every object: a power of two from 4 to 1024; 0: 8
    std::size_t block_bytes = 0; ///< of each block: a power of two, 64 KiB to 1 GiB; 0: 2 MiB
    std::size_t max_retained_bytes = max_object_bytes; ///< of empty blocks; blocks beyond it are released at once
    size_on_free sizes = size_on_free::optional;
    page_layout layout = page_layout::mixed;
    sharing threads = sharing::one_thread;
};

/// User-supplied functions that replace a group's blocks: see affinity_group::replace_with().
struct affinity_functions {
    void* context = nullptr;
    /// Returns   nullptr when out of memory.
    void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment) = nullptr;
    /// `bytes` is zero if the free passed no size; `alignment` is the group's if the free passed none.
    void (*deallocate)(void* context, void* block, std::size_t bytes, std::size_t alignment) = nullptr;
};

class TENURE_API affinity_group {
public:
    /// Acquires nothing from the source before the first object. If an option is out of range, or the group is for any
    /// thread and the source is not, every allocation fails; checked builds report it. If the source's blocks are
    /// smaller than options.block_bytes, the group uses smaller blocks, down to 64 KiB.
    /// Requires  the text of `name` and the source outlive the group.
    [[nodiscard]] explicit affinity_group(std::string_view name, affinity_options options = {},
                                          block_source& source = page_source::process()) noexcept;

    /// Releases every block, including those in use; runs no destructors.
    /// Requires  no thread uses the group during or after this call. Threads that used it earlier may keep running.
    ~affinity_group();
    /// Takes over the objects of `other`, and in a shared group the threads' memory. `other` is empty afterwards and
    /// can be used. Objects stay where they are. Requires  no other thread uses either group meanwhile; neither is a
    /// ready-made one. Cost      O(blocks), and a copy of 11 KiB.
    [[nodiscard]] affinity_group(affinity_group&& other) noexcept;
    affinity_group& operator=(affinity_group&& other) noexcept;

    /// Allocates uninitialized memory. Zero bytes count as one.
    /// Returns   memory at a multiple of the group's alignment; nullptr when out of memory.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes) noexcept;
    /// The same at a multiple of `alignment` as well.
    /// Returns   nullptr also when `alignment` is not a power of two.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) noexcept;

    /// Frees an object. nullptr is allowed and does nothing.
    /// Requires  the object is allocated from this group, which does not use size_on_free::required. With that option,
    ///           pass the size; a violation is reported for objects in blocks.
    void deallocate(void* object) noexcept;
    /// Frees an object of known size.
    /// Requires  also that `bytes` is the size that it was allocated with.
    TENURE_LOCAL void deallocate(void* object, std::size_t bytes) noexcept;
    TENURE_LOCAL void deallocate(void* object, std::size_t bytes, std::size_t alignment) noexcept;

    /// Memory for `count` elements. Nothing is constructed in it: T needs no constructor. Free it with deallocate().
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T> allocate(std::size_t count) noexcept {
        return detail::allocate_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); });
    }
    template<class T>
    TENURE_LOCAL void deallocate(std::span<T> elements) noexcept {
        deallocate(elements.data(), elements.size_bytes(), alignof(T));
    }
    /// Constructs an object. Returns   nullptr when out of memory. When the constructor throws, the memory is freed.
    template<class T, class... Arguments>
    [[nodiscard]] TENURE_LOCAL T*
    make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
        return detail::make_object<T>(
            [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                deallocate(block, bytes, alignment);
            },
            std::forward<Arguments>(arguments)...);
    }
    /// Destroys an object of make(). nullptr is allowed and does nothing. Requires  T is its type.
    template<class T>
    TENURE_LOCAL void destroy(T* object) noexcept {
        if (object == nullptr) return;
        static_assert(!std::has_virtual_destructor_v<T> || std::is_final_v<T>,
                      "destroy() needs the size of the object, and T may be a base of it: use make_unique_in()");
        object->~T();
        deallocate(const_cast<std::remove_cv_t<T>*>(object), sizeof(T), alignof(T));
    }
    /// Constructs `count` elements as T() does: numbers are zero.
    /// Returns   an empty span when out of memory.
    template<class T>
    [[nodiscard]] TENURE_LOCAL std::span<T>
    make_array(std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>) {
        return detail::make_elements<T>(
            count, [this](std::size_t bytes, std::size_t alignment) noexcept { return allocate(bytes, alignment); },
            [this](void* block, std::size_t bytes, std::size_t alignment) noexcept {
                deallocate(block, bytes, alignment);
            });
    }
    /// Destroys the elements of make_array(), last first, and frees their memory.
    template<class T>
    TENURE_LOCAL void destroy_array(std::span<T> elements) noexcept {
        detail::destroy_elements(elements.data(), elements.size());
        deallocate(elements);
    }

    /// Frees every object without running destructors. All pages stay until trim(), even beyond
    /// options.max_retained_bytes. Memory of replacement functions is not affected.
    /// Requires  no other thread uses the group during the call, or any of its objects afterwards.
    /// Cost      O(blocks).
    void clear() noexcept;

    /// Returns empty blocks to the source, and empty pages of other blocks if the source can decommit. Trims large
    /// objects like heap::trim().
    /// Requires  no other thread uses the group meanwhile.
    /// Returns   the number of bytes returned.
    std::size_t trim() noexcept;

    /// Whether the pointer is inside memory of this group. Accepts any pointer.
    /// Cost      two loads; for large objects as heap::owns().
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// Number of allocated objects.
    /// Cost      O(1); in a shared group O(threads), with a lock.
    [[nodiscard]] std::size_t size() const noexcept;
    /// peak_bytes counts pages in use and large objects. A shared group's live_bytes include what threads hold in
    /// reserve.
    /// Cost      O(pages), with a lock in a shared group.
    [[nodiscard]] allocator_stats stats() const noexcept;
    /// For reports. Requires  no other thread uses the group meanwhile.
    /// Cost      O(pages), including their bits.
    [[nodiscard]] affinity_usage usage() noexcept;

    /// Checks every page and bit for consistency. Requires  no other thread uses the group meanwhile.
    [[nodiscard]] bool valid() noexcept;

    /// Configures the group anew, for groups that the caller did not create: see affinities.hpp. An alignment or a
    /// block size of zero keeps what the group was created with: for a ready-made group, its own alignment and what the
    /// environment says. Other options and the source replace the group's. A group for any thread remains one, whatever
    /// options.threads says.
    /// Requires  no other thread uses the group meanwhile.
    /// Returns   false, and changes nothing, when the group is not is_unused(), or when the options are invalid;
    /// checked
    ///           builds report it.
    [[nodiscard]] bool configure(const affinity_options& options,
                                 block_source& source = page_source::process()) noexcept;

    /// Whether the group has neither an object nor a block (trim() releases empty blocks).
    /// Requires  no other thread uses the group meanwhile.
    [[nodiscard]] bool is_unused() noexcept;

    /// Makes the group allocate and free through the given functions, which must serve the same threads as the group.
    /// Null functions restore the group's own memory.
    /// Requires  no other thread uses the group meanwhile.
    /// Returns   false, and changes nothing, when an object is allocated, when only one of the functions is null, or
    ///           when the group's options are invalid.
    [[nodiscard]] bool replace_with(const affinity_functions& functions) noexcept;

    /// Where the deleters of adapt/unique.hpp find this group after it moves. Returns   nullptr when out of memory.
    using home_owner = affinity_group;
    [[nodiscard]] detail::owner_home* unmoved_home() noexcept { return link_.of(this, "affinity group"); }

    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t block_bytes() const noexcept { return options_.block_bytes; }
    [[nodiscard]] size_on_free sizes() const noexcept { return options_.sizes; }
    /// The largest object in a block. Larger objects, and those aligned to more than 4096, are in the group's heap.
    [[nodiscard]] static constexpr std::size_t max_in_block_bytes() noexcept { return detail::affinity_page_bytes / 4; }

private:
    class shared_lock;
    using thread_part = detail::affinity_part;
    using size_entry = detail::affinity_sizes::entry;

    static constexpr std::size_t table_limit_bytes = detail::affinity_table_limit_bytes;
    static constexpr std::size_t least_alignment = detail::affinity_least_granule; // of every group
    static constexpr std::size_t max_block_alignment = 4096;                       // larger alignments use the heap
    static constexpr std::size_t unknown_bytes = SIZE_MAX;                         // of a free without a size

    [[nodiscard]] TENURE_LOCAL thread_part* part_of_this_thread() noexcept;
    [[nodiscard]] TENURE_LOCAL bool deallocate_adjacent(void* object, std::size_t bytes) noexcept;
    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] bool refill(thread_part& mine, detail::affinity_stream& stream,
                              detail::affinity_request wanted) noexcept;
    void deallocate_slow(void* object, std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate_in_block(unsigned char* object, size_entry entry) noexcept;
    void deallocate_checked(void* object, std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t check_guard(unsigned char* object) noexcept;
    void check_guard_in_front(const unsigned char* object) noexcept;
    void check_living() noexcept;
    void deallocate_large(heap& large, void* object, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] bool deallocate_apart(void* object, std::size_t bytes) noexcept;
    TENURE_NOINLINE void deallocate_rest(void* object, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] bool is_large(const void* object, std::size_t bytes, std::size_t alignment) const noexcept;

    void exchange(affinity_group& other) noexcept;
    [[nodiscard]] thread_part& open_part() noexcept;
    /// Whether only the calling thread uses its part. Threads without one use own_ under the lock.
    [[nodiscard]] bool is_exclusive(const thread_part& part) const noexcept { return !is_shared_ || &part != &own_; }
    void retire(thread_part& part) noexcept;
    void reclaim_ownerless_parts() noexcept;
    void release_parts() noexcept;
    static const platform::fork_steps fork_steps;

    // First the fields that every call touches.
    bool is_shared_;
    bool is_elsewhere_; // objects are malloc's, or those of replacement functions
    platform::thread_slot slot_;
    detail::affinity_bits bits_;
    detail::affinity_sizes sizes_;
    thread_part own_; // the only thread's part, or that of threads without one

    affinity_options options_;
    std::size_t created_alignment_, created_block_bytes_; // what zero in the options of configure() means
    std::string_view name_;
    block_source* source_;
    platform::fork_handler fork_;   // used by shared groups
    mutable platform::mutex mutex_; // guards everything up to pages_, in a shared group
    detail::misuse_log misuse_;     // reported after unlocking: the handler may query the group
    detail::thread_parts<thread_part> parts_;
    std::size_t uncertain_objects_ = 0; // objects that ownerless parts may have been about to count
    detail::affinity_blocks blocks_;
    detail::affinity_pages pages_;
    bool is_passthrough_;
    bool is_invalid_;
    affinity_functions functions_;
    detail::atomic<std::ptrdiff_t> function_count_{0}; // relaxed: a counter for statistics
    detail::passthrough_blocks passthrough_;
    detail::affinity_large large_;
    detail::owner_link link_;
    [[no_unique_address]] detail::sole_user user_; // of a group that is not shared
};

inline detail::affinity_part* affinity_group::part_of_this_thread() noexcept {
    return is_shared_ ? static_cast<thread_part*>(platform::slot_value(slot_)) : &own_;
}

inline void* affinity_group::allocate(std::size_t bytes) noexcept { return allocate(bytes, 1); }

// With what it calls, just below the size that GCC inlines at -O2. -fdump-ipa-inline-details says whether it still is.
inline void* affinity_group::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    thread_part* const mine = part_of_this_thread();
    if (!checks::caller && bytes <= table_limit_bytes && mine != nullptr) [[likely]] {
        const size_entry entry = sizes_.in_table(bytes);
        detail::affinity_run& extent = mine->streams[entry.stream].extent;
        unsigned char* const object = extent.begin;
        // The address says whether it is aligned, by the group's alignment or by chance: that needs no load. The slow
        // path rejects values that are not powers of two.
        const bool is_aligned = alignment <= least_alignment ||
                                (alignment <= max_block_alignment && (address_of(object) & (alignment - 1)) == 0);
        if (is_power_of_two(alignment) && is_aligned && entry.bytes <= static_cast<std::size_t>(extent.end - object))
            [[likely]] {
            extent.begin = object + entry.bytes;
            mine->count(1);
            if (bits_.has_starts && entry.stream == 0) bits_.mark_end(object + entry.bytes);
            return object;
        }
    }
    return allocate_slow(bytes, alignment);
}

/// Frees an object that is adjacent to the memory that the thread freed last.
/// Returns   false, and changes nothing, for any other object and for nullptr.
inline bool affinity_group::deallocate_adjacent(void* object, std::size_t bytes) noexcept {
    thread_part* const mine = part_of_this_thread();
    if (checks::caller || bytes > table_limit_bytes || mine == nullptr) [[unlikely]]
        return false;
    const size_entry entry = sizes_.in_table(bytes);
    auto* const begin = static_cast<unsigned char*>(object);
    if (begin == nullptr || !mine->streams[entry.stream].extend_freed(begin, begin + entry.bytes)) return false;
    mine->count(-1);
    return true;
}

inline void affinity_group::deallocate(void* object, std::size_t bytes) noexcept {
    if (!deallocate_adjacent(object, bytes)) deallocate_slow(object, bytes, 1);
}

inline void affinity_group::deallocate(void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment > max_block_alignment || !deallocate_adjacent(object, bytes))
        deallocate_slow(object, bytes, alignment);
}

}
