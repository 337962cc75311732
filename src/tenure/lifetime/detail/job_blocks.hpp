// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Layout of TempJob's blocks in a chunk, and walks over them.

#include <cstddef>
#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/base/bits.hpp>
#include <tenure/base/config.hpp>
#include <tenure/engine/tail_guard.hpp>
#include <tenure/lifetime/detail/chunk_cache.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

// Layout of a block:
//
//   release:  | word 8 | bytes ...                           starts 8 past a multiple of 16
//   checked:  | canary 8 | stack 6 x 8 | copy 8 | front 8 | word 8 | bytes ... | tail guard |   starts at a multiple of
//   16
//
// The canary is the block's own address, scrambled. It detects pointers that TempJob did not return. The copy is the
// word, scrambled; it and the front detect a write in front of the block. The prefix and the tail guard are poisoned.
constexpr std::size_t stack_capacity = 6;
struct checked_prefix {
    std::uint64_t canary;
    void* stack[stack_capacity];
    std::uint64_t copy;
    std::uint64_t front;
};
constexpr std::uint64_t canary_of_block = 0x7E27'0B10'C4A1'1735;
constexpr std::uint64_t key_of_copy = 0x5D0E'0B10'C4A1'E0D5;
constexpr std::uint64_t front_pattern = 0xFBFB'FBFB'FBFB'FBFB;
static_assert(!checks::caller || sizeof(checked_prefix) + sizeof(temp_job_header) == temp_job::prefix_bytes);

/// Reports the free of a block that is not a live block of TempJob.
TENURE_COLD void report_no_live_job(const void* block) noexcept;
/// Reports it if the block is in a range of the calling thread's Temp, where TempJob has none. Returns   whether it is.
TENURE_COLD bool report_temp_as_job(const void* block) noexcept;

/// Start of the first block at or after `from` whose bytes are at a multiple of `alignment`.
[[nodiscard]] inline std::uintptr_t block_begin(std::uintptr_t from, std::size_t alignment) noexcept {
    return align_up(from + temp_job::prefix_bytes, alignment) - temp_job::prefix_bytes;
}

[[nodiscard]] inline std::uintptr_t first_block(const lifetime_chunk& chunk) noexcept {
    return block_begin(chunk.begin(), default_alignment);
}

/// The word in front of a block's bytes.
[[nodiscard]] inline temp_job_header& header_of(std::uintptr_t bytes) noexcept {
    return *static_cast<temp_job_header*>(pointer_at(bytes - sizeof(temp_job_header)));
}

/// The same word, which is poisoned in checked builds.
[[nodiscard]] inline std::uint64_t word_of(std::uintptr_t bytes) noexcept {
    if constexpr (checks::caller) return platform::read_hidden(&header_of(bytes));
    return header_of(bytes).load(std::memory_order_relaxed);
}

[[nodiscard]] inline std::size_t stride_of(std::size_t bytes) noexcept {
    return align_up(temp_job::prefix_bytes + bytes + (bytes == 0), default_alignment) + tail_guard_bytes;
}

[[nodiscard]] inline std::size_t size_of_block(const lifetime_chunk& chunk, std::uint64_t word) noexcept {
    return (word & temp_job_word::large) != 0 ? chunk.large_bytes : word & temp_job_word::size_mask;
}

[[nodiscard]] inline std::uint64_t frame_bits(std::uint64_t frame) noexcept {
    return frame & temp_job_word::frame_mask;
}

/// Frames since a block was allocated. `word` holds the last bits of its frame, which is `from` or later.
[[nodiscard]] inline std::uint64_t age_of(std::uint64_t word, std::uint64_t from, std::uint64_t now) noexcept {
    return now - from - frame_bits((word >> temp_job_word::frame_shift) - from);
}

/// A copy of a block's allocating stack: the prefix is poisoned.
struct copied_stack {
    void* frames[stack_capacity];
};

/// Describes a block for a leak report; the description points to `copy`.
[[nodiscard]] temp_job_leak describe(std::uintptr_t bytes_at, std::uint64_t word, std::size_t bytes,
                                     std::uint64_t age_frames, copied_stack& copy) noexcept;

/// Whether the chunk has no live block.
/// Cost      reads eight states at a time; over the chunk's life it reads each about once.
[[nodiscard]] bool is_empty(lifetime_chunk& chunk) noexcept;

/// Calls `visit(bytes_at)` for each live block in the state words `from` to `to`, until it returns false.
/// Returns   the word where it stopped; `to` at the end, or `from` if that is greater.
template<class Visit>
std::size_t visit_live(lifetime_chunk& chunk, std::size_t from, std::size_t to, Visit&& visit) {
    constexpr std::uint64_t any_state = 0x0303'0303'0303'0303;
    std::size_t word = from;
    for (; word < to; ++word) {
        // A state that changes during the walk is seen either before or after the change.
        const std::uint64_t states = state_words(chunk)[word].load(std::memory_order_acquire) & any_state;
        for (std::uint64_t left = states; left != 0;) {
            const std::size_t byte = lowest_bit(left) / 8;
            left &= ~(std::uint64_t{0xFF} << (byte * 8));
            const std::uintptr_t bytes_at = address_of(&chunk) + (word * 8 + byte) * default_alignment;
            if (!visit(bytes_at)) return word;
        }
    }
    return word;
}

}
