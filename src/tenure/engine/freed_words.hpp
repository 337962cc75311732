// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The batched write-back of freed blocks into free bits.
///
/// Pages keep one bit per block, set while the block is free. Freed blocks wait in caches as pointers; when a batch
/// leaves a cache, their bits are set. The words with these bits are rarely near each other, so all are located and
/// prefetched first and written afterwards. Blocks freed one after another often share a word, which is written once.

#include <cstddef>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// A word of free bits, and those of its bits that a batch sets.
struct freed_word {
    bit_word* word;
    bit_word bits;
};

/// The largest batch; callers split larger ones.
constexpr std::size_t max_freed_words = 64;

/// Fills `found` with the words of a batch of blocks, in the order of the blocks. `locate(block)` returns the word and
/// the bit of one block, as a freed_word or a type derived from it. `join(word, located)` adds a block to the word
/// before it. If a block was freed twice, the second free gets its own word, so that the write finds it.
/// Requires  1 <= `count` <= max_freed_words.
/// Returns   the number of words.
template<class Freed, class Locate, class Join>
TENURE_ALWAYS_INLINE std::size_t locate_freed(void* const* blocks, std::size_t count, Freed* found, Locate&& locate,
                                              Join&& join) noexcept {
    Freed last = locate(blocks[0]);
    prefetch_for_write(last.word);
    std::size_t words = 0;
    for (std::size_t each = 1; each < count; ++each) {
        const Freed next = locate(blocks[each]);
        if (next.word == last.word && (last.bits & next.bits) == 0) {
            last.bits |= next.bits;
            join(last);
            continue;
        }
        found[words++] = last;
        prefetch_for_write(next.word);
        last = next;
    }
    found[words++] = last;
    return words;
}

}
