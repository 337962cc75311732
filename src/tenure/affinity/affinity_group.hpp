// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Objects that are visited together live together: mixed sizes in blocks of their own, in the order of allocation.
///
/// Use it for     scene graphs, trees, meshes of small objects: one group per kind of visit, so that what a traversal
///                does not look at does not lie between what it does.
/// Not for        one type in bulk: pool/pool.hpp. What is large or visited alone: heap/heap.hpp.
/// Memory from    a block source, in naturally aligned blocks of 2 MiB, touched as they are used; empty ones go back at
///                trim(), or at once past options.max_retained_bytes. Objects past max_object_bytes() from a heap that
///                belongs to the group.
/// Cost           allocate and deallocate O(1): an add and a compare, and for every page of 64 KiB, or run of free
///                memory in it, a look at its 128 words of bits at most. Before a request is refused all pages are
///                looked at that may have it. clear O(blocks), with their bits.
/// Overhead       no header. Sizes are rounded up to the alignment. Where frees name the size: a bit for 8 bytes where
///                something was freed, nothing elsewhere. Where they need not: one more bit for 8 bytes, 4 bytes up to
///                256 bytes of size and 1.6 % above. Objects lie within a page of 64 KiB: what is left at its end is
///                lost to objects that are larger. Apart: sizes near a multiple of a cache line are rounded to it.
/// Threads        one at a time, or any with sharing::any_thread, which takes a lock for what a thread does not find in
///                what it has; the functions below say where not.
/// Fork           usable in the child: a group for any thread always, one for one thread unless another thread was
///                using it just then. The object that a thread the child does not have was just allocating or freeing
///                may be lost to the child, and size() differ by it.
/// When full      asks the source; if refused, returns null and changes nothing.
/// Example        examples/affinity.cpp

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tenure/affinity/affinity_block.hpp>
#include <tenure/affinity/affinity_usage.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/block_source.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/stats.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/passthrough_blocks.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/mutex.hpp>
#include <tenure/platform/page_source.hpp>
#include <tenure/platform/thread_slots.hpp>

namespace tenure::inline TENURE_ABI {

/// What the frees of a group say.
enum class size_on_free : std::uint8_t {
    optional, ///< any free may leave the size out: the group knows where objects begin
    required, ///< every free names the size or the type; the group remembers none
};

/// Where objects of different sizes go.
enum class page_layout : std::uint8_t {
    mixed,   ///< one after the other, as they were allocated
    by_size, ///< each size up to 512 bytes has pages of its own, in which none crosses a cache line without need
};

/// How a group is to be.
struct affinity_options {
    std::size_t alignment = 8; ///< of every object that asks for no more: 8 to 1024, a power of two
    std::size_t block_bytes = std::size_t{2}
                              << 20; ///< taken from the source at a time: 64 KiB to 1 GiB, a power of two
    std::size_t max_retained_bytes = max_object_bytes; ///< of empty blocks; what is past it goes back at once
    size_on_free sizes = size_on_free::optional;
    page_layout layout = page_layout::mixed;
    sharing threads = sharing::one_thread;
};

/// Blocks of the user's own, in place of a group's: see affinity_group::replace_with().
struct affinity_functions {
    void* context = nullptr;
    void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment) = nullptr; ///< null when refused
    /// `bytes` is zero where the free did not name the size; `alignment` is the group's where it names none.
    void (*deallocate)(void* context, void* block, std::size_t bytes, std::size_t alignment) = nullptr;
};

class TENURE_API affinity_group {
public:
    /// Takes nothing from the source until the first object. Options out of range, and a source for one thread in a
    /// group for any, refuse every allocation; with checks they are reported. A source whose blocks are smaller than
    /// options.block_bytes gives smaller ones, down to 64 KiB.
    /// Requires  the text of `name` and the source outlive the group.
    explicit affinity_group(std::string_view name, affinity_options options = {},
                            block_source& source = page_source::process()) noexcept;

    /// Gives every block back, whatever is still allocated; runs no destructor.
    /// Requires  no other thread uses the group any more; threads that did may go on.
    ~affinity_group();
    affinity_group(const affinity_group&) = delete;
    affinity_group& operator=(const affinity_group&) = delete;

    /// Zero bytes count as one.
    /// Returns   memory, not initialised, at a multiple of the group's alignment; null when refused.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes) noexcept;
    /// The same at a multiple of `alignment` as well. Null also when that is no power of two.
    [[nodiscard]] TENURE_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) noexcept;

    /// Gives an object's memory back. Null is allowed and does nothing.
    /// Requires  it is of this group and allocated; in a group of size_on_free::required, that one of the forms below
    /// is called
    ///           instead, which is reported for objects that lie in blocks.
    void deallocate(void* object) noexcept;
    /// Requires  also that `bytes` is what it was allocated with.
    TENURE_LOCAL void deallocate(void* object, std::size_t bytes) noexcept;
    TENURE_LOCAL void deallocate(void* object, std::size_t bytes, std::size_t alignment) noexcept;

    /// Everything is free; destructors are not run, and pages are kept until trim(), whatever
    /// options.max_retained_bytes says. What functions of yours hold stays as it is. Cost      O(blocks). Requires  no
    /// other thread uses the group meanwhile, or any of its objects afterwards.
    void clear() noexcept;

    /// Gives back empty blocks, and the empty pages of others where the source can; of large objects, as heap::trim().
    /// Requires  no other thread uses the group meanwhile. Returns   the bytes given back.
    std::size_t trim() noexcept;

    /// Whether the pointer is inside memory of this group. Any pointer may be asked for. Cost      two loads; as
    /// heap::owns() for large objects.
    [[nodiscard]] bool owns(const void* pointer) const noexcept;

    /// Objects allocated now. Cost      O(1); O(threads), with a lock, in a shared group.
    [[nodiscard]] std::size_t size() const noexcept;
    /// peak_bytes is of pages taken into use, and of large objects; live_bytes of a shared group is with what threads
    /// hold for their next objects. Cost      O(pages), with a lock in a shared group.
    [[nodiscard]] allocator_stats stats() const noexcept;
    /// For reports. Requires  no other thread uses the group meanwhile. Cost      O(pages), with their bits.
    [[nodiscard]] affinity_usage usage() noexcept;

    /// Walks every page and bit and says whether all is consistent.
    /// Requires  no other thread uses the group meanwhile.
    [[nodiscard]] bool valid() noexcept;

    /// From now on blocks are as large; the same rules as for the option. Returns   false, and nothing has changed,
    /// when the group has a block.
    [[nodiscard]] bool set_block_bytes(std::size_t bytes) noexcept;

    /// From now on what the group is asked for comes from functions of yours, which serve whatever threads the group
    /// does; functions that are null bring the group's own back. Returns   false, and nothing has changed, when an
    /// object is allocated, when only one of the functions is null, and where the group's options refuse everything.
    /// Requires  no other thread uses the group meanwhile.
    [[nodiscard]] bool replace_with(const affinity_functions& functions) noexcept;

    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] std::size_t alignment() const noexcept { return options_.alignment; }
    [[nodiscard]] std::size_t block_bytes() const noexcept { return options_.block_bytes; }
    /// The largest object that lies in a block; larger ones, and those aligned to more than 4096, are on the group's
    /// heap.
    [[nodiscard]] static constexpr std::size_t max_object_bytes() noexcept { return detail::affinity_page_bytes / 4; }

    /// Takes what a thread that ends has of this group. Called by the library.
    struct thread_part;
    void retire(thread_part& part) noexcept;

private:
    class shared_lock;
    using stream = detail::affinity_stream;
    using page = detail::affinity_page;
    using block = detail::affinity_block;

    static constexpr std::size_t table_limit_bytes = 512;
    static constexpr std::size_t least_alignment = 8;        // of every group: known when a call is compiled
    static constexpr std::size_t max_block_alignment = 4096; // more than that is the heap's
    static constexpr std::size_t unknown_bytes = SIZE_MAX;   // of a free that names no size
    static constexpr std::size_t stream_count = table_limit_bytes / 8 + 1;
    static constexpr std::size_t run_classes = 14; // by the binary logarithm of a run's granules

    /// What a size up to table_limit_bytes takes, and which stream it goes to.
    struct size_entry {
        std::uint16_t bytes;
        std::uint16_t stream;
    };

public:
    /// What one thread allocates from.
    struct thread_part {
        std::atomic<std::ptrdiff_t> live_count{0}; ///< less what others freed of it, so it may be negative
        thread_part* next = nullptr;
        thread_part* previous = nullptr;
        stream streams[stream_count];
        page* taken[stream_count] = {};                   ///< the page that a stream's extents come from
        std::uint16_t scanned[stream_count] = {};         ///< granules of it that were looked at for runs
        std::uint16_t largest_skipped[stream_count] = {}; ///< the largest run that was too small
        std::uint16_t skipped[stream_count] = {};         ///< granules in all runs that were too small

        void count(std::ptrdiff_t change) noexcept {
            live_count.store(live_count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
        }
    };

private:
    [[nodiscard]] TENURE_LOCAL thread_part* part_of_this_thread() noexcept;
    [[nodiscard]] TENURE_LOCAL bool free_near(void* object, std::size_t bytes) noexcept;
    [[nodiscard]] TENURE_LOCAL bool free_beside(thread_part& mine, size_entry entry, unsigned char* begin) noexcept;
    TENURE_LOCAL void mark_start(const unsigned char* at) noexcept;
    TENURE_LOCAL void mark_end(const unsigned char* at) noexcept;
    TENURE_LOCAL void unmark_start(const unsigned char* at) noexcept;
    [[nodiscard]] size_entry entry_for(std::size_t bytes) const noexcept;
    [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept;

    [[nodiscard]] void* allocate_slow(std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate_slow(void* object, std::size_t bytes, std::size_t alignment) noexcept;
    void free_apart(void* object, size_entry entry) noexcept;
    [[nodiscard]] bool free_quickly(stream& of, size_entry entry, unsigned char* begin) noexcept;
    void free_large(heap& large, void* object, std::size_t bytes, std::size_t alignment) noexcept;
    void deallocate_checked(void* object, std::size_t bytes) noexcept;
    void note_misuse(std::string_view what, const void* at, std::string_view advice) noexcept;
    [[nodiscard]] bool is_large(const void* object, std::size_t bytes, std::size_t alignment) const noexcept;
    [[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] std::size_t bytes_of(const void* object) const noexcept;

    [[nodiscard]] thread_part* open_part() noexcept;
    /// Memory that is asked for, with what it must be a multiple of.
    struct request {
        std::size_t bytes;
        std::size_t alignment;
    };
    [[nodiscard]] bool refill(thread_part& mine, std::size_t stream_index, request asked) noexcept;
    [[nodiscard]] bool reuse_freed(thread_part& mine, std::size_t stream_index, request asked) noexcept;
    [[nodiscard]] bool next_run(thread_part& mine, std::size_t stream_index, request asked) noexcept;
    [[nodiscard]] page* find_page(std::size_t stream_index, std::size_t bytes, bool may_look) noexcept;
    [[nodiscard]] page* search_filed(request asked) noexcept;
    void open_page(thread_part& mine, std::size_t stream_index, page& which) noexcept;
    [[nodiscard]] page* fresh_page() noexcept;
    [[nodiscard]] bool add_block() noexcept;
    void release_block(block* which) noexcept;
    void unlist_pages(block& which) noexcept;
    [[nodiscard]] bool is_block(const block& which) const noexcept;
    [[nodiscard]] bool is_valid_page(const page& which, std::size_t& live_count) const noexcept;
    /// Whether the begins of a page's objects are marked. Checked builds mark those of one size as well.
    [[nodiscard]] bool is_marked(const page& which) const noexcept {
        return has_starts_ && (which.stream == 0 || checks::caller);
    }
    [[nodiscard]] static std::size_t unused_bytes(const thread_part& part) noexcept;
    [[nodiscard]] std::size_t largest_run_bytes(const page& which) const noexcept;
    [[nodiscard]] std::size_t large_count() const noexcept;
    void open_fresh_page(thread_part& mine, std::size_t stream_index, page& fresh) noexcept;
    void open_extent(stream& at, unsigned char* begin, unsigned char* end) noexcept;
    void abandon_extent(stream& at) noexcept;
    void flush(stream& at) noexcept;
    void flush_before(stream& at) noexcept;
    void free_run(unsigned char* begin, unsigned char* end) noexcept;
    void settle(page& which) noexcept;
    void leave(thread_part& mine, std::size_t stream_index) noexcept;
    void settle_part(thread_part& part) noexcept;
    void settle_ownerless() noexcept;
    void settle_all() noexcept;
    void leave_to_child() noexcept;
    static const platform::fork_steps fork_steps;
    void make_empty(page& which) noexcept;
    void list(page& which, page*& first, detail::page_place place) noexcept;
    void unlist(page& which) noexcept;
    [[nodiscard]] page*& list_of(const page& which) noexcept;
    [[nodiscard]] std::uint16_t granule_in_page(const void* inside) const noexcept;
    void forget_block(block& which) noexcept;
    void empty_bits(page& which) noexcept;

    // First what each call touches.
    bool is_shared_;
    bool has_starts_; // objects' begins are marked, in pages of the stream of all sizes
    detail::affinity_layout layout_;
    size_entry table_[stream_count];
    thread_part own_; // of the one thread

    affinity_options options_;
    std::string_view name_;
    block_source& source_;
    platform::thread_slot slot_;
    platform::fork_handler fork_;   // of a shared group
    mutable platform::mutex mutex_; // of everything below, in a shared group
    /// What is to be reported when the lock is free again: whoever hears it may ask the group. The first eight.
    struct misuse {
        std::string_view what, advice;
        const void* at = nullptr;
    };
    struct noted_misuse {
        misuse each[8];
        std::size_t count = 0;
    } misuse_;
    static void report_all(const noted_misuse& noted) noexcept;
    thread_part* parts_ = nullptr;
    thread_part* ownerless_ = nullptr;  // in the child of a fork, of threads that it does not have
    std::size_t uncertain_objects_ = 0; // that such threads may have been about to count
    page* partial_[stream_count] = {};
    page* filed_[run_classes] = {};
    std::uint32_t filed_classes_ = 0; // as a set
    page* empty_ = nullptr;
    block* blocks_ = nullptr;
    block* last_ = nullptr;
    block* newest_ = nullptr; // the first that may have pages that were never handed out
    std::size_t block_count_ = 0;
    std::size_t empty_block_count_ = 0;
    std::size_t used_pages_ = 0;
    std::size_t peak_pages_ = 0;
    bool is_passthrough_;
    bool is_refused_;
    affinity_functions functions_;
    std::atomic<std::ptrdiff_t> function_count_{0};
    detail::passthrough_blocks passthrough_;
    std::atomic<heap*> large_{nullptr};
    alignas(heap) unsigned char large_memory_[sizeof(heap)];
};

inline affinity_group::thread_part* affinity_group::part_of_this_thread() noexcept {
    return is_shared_ ? static_cast<thread_part*>(platform::slot_value(slot_)) : &own_;
}

/// An object, or the free rest of an extent, begins there.
inline void affinity_group::mark_start(const unsigned char* at) noexcept {
    std::size_t const granule = layout_.granule_of(at);
    bit_word& word = layout_.start_bits(layout_.block_of(at))[granule / bits_per_word];
    detail::store_bits(word, word | bit_at(granule));
}

/// The same where an object ends, unless its page does.
inline void affinity_group::mark_end(const unsigned char* at) noexcept {
    if ((address_of(at) & (detail::affinity_page_bytes - 1)) != 0) mark_start(at);
}

inline void affinity_group::unmark_start(const unsigned char* at) noexcept {
    std::size_t const granule = layout_.granule_of(at);
    bit_word& word = layout_.start_bits(layout_.block_of(at))[granule / bits_per_word];
    detail::store_bits(word, word & ~bit_at(granule));
}

inline void* affinity_group::allocate(std::size_t bytes) noexcept { return allocate(bytes, 1); }

inline void* affinity_group::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    thread_part* const mine = part_of_this_thread();
    if (!checks::caller && bytes <= table_limit_bytes && mine != nullptr) [[likely]] {
        size_entry const entry = table_[(bytes + 7) / 8];
        stream& from = mine->streams[entry.stream];
        unsigned char* const object = from.next;
        // That it lies at a multiple by chance is enough; what is no power of two is refused by the slow way.
        bool const is_aligned = alignment <= least_alignment || alignment <= options_.alignment ||
                                (alignment <= max_block_alignment && (address_of(object) & (alignment - 1)) == 0);
        if (is_power_of_two(alignment) && is_aligned && entry.bytes <= static_cast<std::size_t>(from.end - object))
            [[likely]] {
            from.next = object + entry.bytes;
            mine->count(1);
            if (has_starts_ && entry.stream == 0) mark_end(object + entry.bytes);
            return object;
        }
    }
    return allocate_slow(bytes, alignment);
}

inline bool affinity_group::free_near(void* object, std::size_t bytes) noexcept {
    thread_part* const mine = part_of_this_thread();
    if (checks::caller || bytes > table_limit_bytes || mine == nullptr) [[unlikely]]
        return false;
    return free_beside(*mine, table_[(bytes + 7) / 8], static_cast<unsigned char*>(object));
}

inline void affinity_group::deallocate(void* object, std::size_t bytes) noexcept {
    if (!free_near(object, bytes)) deallocate_slow(object, bytes, 1);
}

inline void affinity_group::deallocate(void* object, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment > max_block_alignment || !free_near(object, bytes)) deallocate_slow(object, bytes, alignment);
}

/// Frees what lies beside what the thread freed last. Returns   false, and nothing has changed, for anything else, null
/// among it.
inline bool affinity_group::free_beside(thread_part& mine, size_entry entry, unsigned char* begin) noexcept {
    stream& of = mine.streams[entry.stream];
    unsigned char* const end = begin + entry.bytes;
    if (begin == nullptr) return false;
    if (end == of.freed_begin) {
        of.freed_begin = begin;
        if (begin == of.before_end) [[unlikely]] { // the gap between the two is closed
            of.freed_begin = of.before_begin;
            std::atomic_signal_fence(std::memory_order_release); // in this order for the child of a fork: make_sound()
            of.before_begin = of.before_end = nullptr;
        }
    } else if (begin == of.freed_end) {
        of.freed_end = end;
        if (end == of.before_begin) [[unlikely]] {
            of.freed_end = of.before_end;
            std::atomic_signal_fence(std::memory_order_release);
            of.before_begin = of.before_end = nullptr;
        }
    } else {
        return false;
    }
    mine.count(-1);
    return true;
}

}
