// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The free bits and the start bits of an affinity group's pages.
///
/// A free bit marks a granule that is free and in no extent. Where nothing was ever freed, free bits are zero and were
/// never written, so they take no memory. A start bit marks the start of an object; the object ends at the next start
/// bit or free bit, or at the end of its page. Groups whose frees pass the size have no start bits.

#include <cstddef>

#include <tenure/affinity/detail/affinity_layout.hpp>
#include <tenure/base/align.hpp>
#include <tenure/base/atomic.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/base/min_max.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// What an object needs.
struct affinity_request {
    std::size_t bytes; ///< a multiple of the granule
    std::size_t alignment;
};

/// Adjacent granules.
struct affinity_run {
    unsigned char* begin = nullptr;
    unsigned char* end = nullptr;

    [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(end - begin); }
    [[nodiscard]] bool contains(const void* at) const noexcept { return at >= begin && at < end; }
    [[nodiscard]] bool has_room(affinity_request wanted) const noexcept {
        return bytes() >= wanted.bytes + ((0 - address_of(begin)) & (wanted.alignment - 1));
    }
};

/// Reads and writes bits by the addresses of their granules.
///
/// Threads   a page's bits have one writer at a time: the thread that allocates from the page, for start bits, or the
///           holder of the group's lock. object_bytes() reads them meanwhile, without the lock.
class affinity_bits : public affinity_layout {
public:
    constexpr explicit affinity_bits(const affinity_layout& layout) noexcept : affinity_layout(layout) {}

    /// Whether starts of objects are marked in the stream's pages. Checked builds also mark those in pages of one size.
    [[nodiscard]] bool marks_starts(std::size_t stream) const noexcept {
        return has_starts && (stream == 0 || checks::caller);
    }
    /// Marks the start of an object or of the free rest of an extent.
    TENURE_LOCAL void mark_start(const unsigned char* at) const noexcept {
        const std::size_t granule = granule_of(at);
        bit_word& word = start_bits(block_of(at))[granule / bits_per_word];
        store(word, word | bit_at(granule));
    }
    /// Marks the end of an object, unless it is the end of the page.
    TENURE_LOCAL void mark_end(const unsigned char* at) const noexcept {
        if ((address_of(at) & (affinity_page_bytes - 1)) != 0) mark_start(at);
    }
    void unmark_start(const unsigned char* at) const noexcept {
        const std::size_t granule = granule_of(at);
        bit_word& word = start_bits(block_of(at))[granule / bits_per_word];
        store(word, word & ~bit_at(granule));
    }
    [[nodiscard]] bool is_start(const void* at) const noexcept {
        const std::size_t granule = granule_of(at);
        return (start_bits(block_of(at))[granule / bits_per_word] & bit_at(granule)) != 0;
    }
    [[nodiscard]] bool is_free(const void* at) const noexcept { return (free_word(at) & bit_at(granule_of(at))) != 0; }
    /// Requires  the run is in one page, here and below.
    [[nodiscard]] bool is_any_free(affinity_run run) const noexcept {
        bit_word found = 0;
        for_each_word(free_bits(block_of(run.begin)), run,
                      [&](bit_word& word, bit_word bits) { found |= word & bits; });
        return found != 0;
    }
    /// Sets the free bits of a run.
    /// Returns   how many of them were set before.
    std::size_t set_free(affinity_run run) const noexcept {
        std::size_t set_before = 0;
        for_each_word(free_bits(block_of(run.begin)), run, [&](bit_word& word, bit_word bits) {
            if ((word & bits) != 0) [[unlikely]] // without POPCNT, counting is a call
                set_before += count_bits(word & bits);
            store(word, word | bits);
        });
        return set_before;
    }
    void clear_free(affinity_run run) const noexcept { clear_bits(free_bits(block_of(run.begin)), run); }
    /// Prepares the start bits for an extent: marks its beginning, which is the end of the object before it, and clears
    /// those of objects that were in it. Does nothing where starts are not marked.
    void start_extent(affinity_run extent) const noexcept {
        if (!marks_starts(page_of(extent.begin).stream)) return;
        mark_start(extent.begin);
        clear_bits(start_bits(block_of(extent.begin)), {extent.begin + granule_bytes(), extent.end});
    }
    /// Clears every bit of a page.
    void clear(affinity_page& page) const noexcept;

    /// Calls `visit(run)` for each run of free granules in a page, in address order, until it returns false.
    /// `first` is the granule to begin with, counted from the page's first.
    template<class Visit>
    void for_each_run(const affinity_page& page, std::size_t first, Visit&& visit) const noexcept {
        affinity_block* const block = block_of(&page);
        const bit_word* const words = free_bits(block);
        const std::size_t offset = first_word_of(page) * bits_per_word;
        const std::size_t end = offset + words_per_page * bits_per_word;
        for (std::size_t granule = find_bit(words, offset + first, end, 0); granule != end;) {
            const std::size_t stop = find_bit(words, granule, end, ~bit_word{0});
            if (!visit(affinity_run{at_granule(block, granule), at_granule(block, stop)})) return;
            granule = find_bit(words, stop, end, 0);
        }
    }
    /// The bytes of the largest run of free granules in a page.
    [[nodiscard]] std::size_t largest_run_bytes(const affinity_page& page) const noexcept;

    /// The bytes that an object takes; zero if the group does not record it. Any thread may ask for its own object.
    [[nodiscard]] std::size_t object_bytes(const void* object) const noexcept;
    /// The number of objects in a page; in a page of mixed sizes without start bits, zero.
    /// Requires  no part of the page is in an extent or in a freed run, here and below.
    [[nodiscard]] std::size_t count_objects(const affinity_page& page) const noexcept;
    /// Whether a page's record and bits agree.
    [[nodiscard]] bool valid(const affinity_page& page) const noexcept;

private:
    // object_bytes() may run while the words' writer changes bits of other objects. One of the two bits at the object's
    // end is set at every moment: the writer sets the start bit before it clears the free bit, and the reader loads the
    // start bit after the free bit.
    [[nodiscard]] static bit_word load(const bit_word& word) noexcept {
        return load_atomically(word, memory_order::acquire);
    }
    TENURE_LOCAL static void store(bit_word& word, bit_word bits) noexcept {
        store_atomically(word, bits, memory_order::release);
    }
    /// Calls `visit(word, bits)` for each word that overlaps the run, with a mask of the run's bits in it.
    template<class Visit>
    void for_each_word(bit_word* words, affinity_run run, Visit&& visit) const noexcept {
        for_each_word_of(granule_of(run.begin), run.bytes() >> granule_shift,
                         [&](std::size_t word, bit_word bits) { visit(words[word], bits); });
    }
    void clear_bits(bit_word* words, affinity_run run) const noexcept {
        for_each_word(words, run, [](bit_word& word, bit_word bits) { store(word, word & ~bits); });
    }
    /// The first granule from `from` on, before `end`, whose bit differs from those of `flip`; `end` if there is none.
    [[nodiscard]] static std::size_t find_bit(const bit_word* words, std::size_t from, std::size_t end,
                                              bit_word flip) noexcept {
        while (from < end) {
            const bit_word bits = (words[from / bits_per_word] ^ flip) >> (from % bits_per_word);
            if (bits != 0) return min_of<std::size_t>(from + lowest_bit(bits), end);
            from = (from / bits_per_word + 1) * bits_per_word;
        }
        return end;
    }
    [[nodiscard]] unsigned char* at_granule(const affinity_block* block, std::size_t granule) const noexcept {
        return static_cast<unsigned char*>(pointer_at(address_of(block) + (granule << granule_shift)));
    }
};

}
