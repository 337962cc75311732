// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How TempJob's blocks lie in a chunk, and walks over them. Private to this room.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/config.hpp>
#include <tenure/lifetime/chunk_supply.hpp>
#include <tenure/lifetime/temp_job.hpp>

namespace tenure::inline TENURE_ABI::detail {

// A block, from its begin:
//
//   release:  | word 8 | bytes ...                         begin is 8 past a multiple of 16
//   checked:  | proof 8 | stack 6 x 8 | word 8 | bytes ...  begin is a multiple of 16
//
// The proof is the block's own address, scrambled: a pointer that is not one of ours fails it.
constexpr std::size_t stack_capacity = 6;
struct checked_prefix {
    std::uint64_t proof;
    void* stack[stack_capacity];
};
constexpr std::uint64_t proof_of_block = 0x7E27'0B10'C4A1'1735;
static_assert(!checks::caller || sizeof(checked_prefix) + sizeof(temp_job_header) == temp_job::prefix_bytes);

/// The begin of the first block whose bytes can lie at a multiple of `alignment` at or after `from`.
[[nodiscard]] inline std::uintptr_t block_begin(std::uintptr_t from, std::size_t alignment) noexcept {
    return align_up(from + temp_job::prefix_bytes, alignment) - temp_job::prefix_bytes;
}

[[nodiscard]] inline std::uintptr_t first_block(const lifetime_chunk& chunk) noexcept {
    return block_begin(chunk.begin(), default_alignment);
}

[[nodiscard]] inline temp_job_header& header_of(std::uintptr_t begin) noexcept {
    return *static_cast<temp_job_header*>(pointer_at(begin + temp_job::prefix_bytes - sizeof(temp_job_header)));
}

[[nodiscard]] inline std::size_t stride_of(std::size_t bytes) noexcept {
    return align_up(temp_job::prefix_bytes + bytes + (bytes == 0), default_alignment);
}

[[nodiscard]] inline std::size_t size_of_block(const lifetime_chunk& chunk, std::uint64_t word) noexcept {
    return (word & temp_job_word::large) != 0 ? chunk.large_bytes : word & temp_job_word::size_mask;
}

/// Where the block after this one begins; `end` when this one has the chunk to itself.
[[nodiscard]] inline std::uintptr_t next_block(std::uintptr_t begin, std::uint64_t word, std::uintptr_t end) noexcept {
    return (word & temp_job_word::large) != 0 ? end : begin + stride_of(word & temp_job_word::size_mask);
}

[[nodiscard]] inline std::uint64_t frame_bits(std::uint64_t frame) noexcept {
    return frame & temp_job_word::frame_mask;
}

/// Frames since the block was allocated; exact up to 4095.
[[nodiscard]] inline std::uint64_t age_of(std::uint64_t word, std::uint64_t now) noexcept {
    return frame_bits(now - (word >> temp_job_word::frame_shift));
}

[[nodiscard]] inline bool is_freed(std::uint64_t word) noexcept { return (word & temp_job_word::freed) != 0; }

/// What a leak report says of the block with this header.
[[nodiscard]] temp_job_leak describe(std::uintptr_t begin, std::uint64_t word, std::size_t bytes,
                                     std::uint64_t now) noexcept;

/// Walks blocks while `passes(begin, word)` says so. Returns   the begin of the first that does not pass, or `end`.
///
/// Where a block ends is known once its header has been loaded, so a plain walk waits for one load after another. Most
/// blocks are as large as the one before: guessing that lets the next load begin before this one is there, 2.2 ns a
/// block become 0.6. The barrier keeps the guess a guess: the compiler would else take the equal value that waits for the load.
/// Where sizes are mixed guesses cost more than they save, and the walk stops guessing.
template<class Passes>
[[nodiscard]] std::uintptr_t walk_while(const lifetime_chunk& chunk, std::uintptr_t at, std::uintptr_t end,
                                        Passes&& passes) noexcept {
    constexpr int wrong_guesses_allowed = 64;
    int wrong = 0;
    std::uintptr_t stride = 0;
    while (at != end) {
        std::uint64_t const word = header_of(at).load(std::memory_order_acquire);
        if (!passes(at, word)) break;
        std::uintptr_t const guess = at + stride;
        std::uintptr_t compared = guess;
        asm("" : "+r"(compared)); // from here on the compiler does not know that the two are equal
        std::uintptr_t const next = next_block(at, word, end);
        check_invariant(next > at && next <= end, "TempJob block runs past its chunk", &chunk);
        if (wrong < wrong_guesses_allowed && next == compared) [[likely]] {
            at = guess;
            continue;
        }
        ++wrong;
        stride = next - at;
        at = next;
    }
    return at;
}

/// Moves first_live past every freed block. Returns whether the chunk holds none that is alive.
/// Cost      over a chunk's life, one look at each header.
bool advance_first_live(lifetime_chunk& chunk, std::uintptr_t end) noexcept;

}
