// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp_job.hpp>

#include <algorithm>
#include <mutex>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/lifetime/direct_blocks.hpp>
#include <tenure/lifetime/job_blocks.hpp>
#include <tenure/lifetime/job_counters.hpp>
#include <tenure/lifetime/thread_record.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::job_counters detail::job_seen{};

using detail::job_record;
using detail::lifetime_chunk;
using detail::this_thread;
using detail::thread_record;
using word_bits = detail::temp_job_word;

namespace {

constexpr std::size_t largest_shared_chunk = std::size_t{1} << 20;
constexpr std::uint32_t chunks_before_growth = 4;
constexpr int chunks_to_look_at = 3;
// Within one chunk frames are told apart by 12 bits; a chunk that a quiet thread keeps open is closed long before.
constexpr std::uint64_t oldest_open_chunk = 1024;

void open_chunk(job_record& job, lifetime_chunk* chunk) noexcept {
    job.current = chunk;
    std::uintptr_t const begin = detail::first_block(*chunk);
    chunk->first_live = chunk->first_unreported = begin;
    chunk->large_bytes = 0;
    chunk->frame = job.frame;
    this_thread.job_cursor.store(begin, std::memory_order_release);
    this_thread.job_limit.store(chunk->limit(), std::memory_order_relaxed);
}

void close_chunk(job_record& job) noexcept {
    if (job.current == nullptr) return;
    job.current->end = this_thread.job_cursor.load(std::memory_order_relaxed);
    job.closed.push(job.current);
    job.current = nullptr;
    this_thread.job_limit.store(0, std::memory_order_relaxed);
}

/// Takes up the frame that next_frame() has begun, and opens the limit that it closed.
void notice_frame(job_record& job) noexcept {
    std::uint64_t const now = frame_clock::now();
    if (job.frame != now) {
        job.frame = now;
        if (job.fresh_chunks < 2 && job.next_bytes > detail::chunk_supply::smallest_bytes) job.next_bytes /= 2;
        job.fresh_chunks = 0;
    }
    this_thread.job_word = detail::job_word_for(now, detail::current_tag.id);
    if (job.current == nullptr) return;
    if (now - job.current->frame > oldest_open_chunk) return close_chunk(job);
    this_thread.job_limit.store(job.current->limit(), std::memory_order_relaxed);
}

/// A chunk for the next blocks: one of the thread's own whose blocks are all freed by now, else one from the supply.
lifetime_chunk* next_chunk(job_record& job) noexcept {
    // The oldest is likeliest to be free. One that a long-lived block holds up goes to the back of the queue, so that it
    // cannot hold up the others, also in a program that never ends a frame.
    for (int look = 0; look < chunks_to_look_at && job.closed.first != nullptr; ++look) {
        lifetime_chunk* const chunk = job.closed.pop();
        if (!detail::advance_first_live(*chunk, chunk->end)) {
            job.closed.push(chunk);
            continue;
        }
        if (chunk->origin == detail::chunk_origin::supply && chunk->bytes <= largest_shared_chunk) return chunk;
        detail::process_chunks.give(chunk);
    }
    if (++job.fresh_chunks > chunks_before_growth) {
        job.fresh_chunks = 0;
        job.next_bytes = std::min(2 * job.next_bytes, largest_shared_chunk);
    }
    return detail::process_chunks.take(job.next_bytes);
}

/// Records who allocated, in checked builds.
void fill_prefix(std::uintptr_t begin, std::size_t bytes) noexcept {
    if constexpr (!checks::caller) return;
    platform::unpoison(pointer_at(begin), temp_job::prefix_bytes + bytes + (bytes == 0));
    auto& prefix = *static_cast<detail::checked_prefix*>(pointer_at(begin));
    prefix.proof = detail::proof_of_block ^ begin;
    void* frames[detail::stack_capacity + 2]{};
    host::walk_stack(frames, detail::stack_capacity + 2);
    // Two frames are ours: this function's caller and its caller.
    std::copy_n(frames + 2, detail::stack_capacity, prefix.stack);
}

/// A block in the current chunk, with a freed block before it where alignment asks for a gap; null when it is full.
void* bump(job_record& job, std::size_t bytes, std::size_t alignment) noexcept {
    if (job.current == nullptr) return nullptr;
    std::uintptr_t const from = this_thread.job_cursor.load(std::memory_order_relaxed);
    std::uintptr_t begin = detail::block_begin(from, std::max(alignment, default_alignment));
    while (begin != from && begin - from < temp_job::prefix_bytes) begin += alignment;
    std::uintptr_t const limit = job.current->limit();
    if (begin > limit || detail::stride_of(bytes) > limit - begin) return nullptr;
    if (begin != from) {
        fill_prefix(from, 0);
        detail::header_of(from).store(word_bits::freed | (begin - from - temp_job::prefix_bytes),
                                      std::memory_order_relaxed);
    }
    fill_prefix(begin, bytes);
    detail::header_of(begin).store(this_thread.job_word | bytes, std::memory_order_relaxed);
    this_thread.job_cursor.store(begin + detail::stride_of(bytes), std::memory_order_release);
    return pointer_at(begin + temp_job::prefix_bytes);
}

/// A chunk of its own for a block that would waste a shared one.
void* allocate_large(job_record& job, std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const gap = std::max(alignment, default_alignment) + temp_job::prefix_bytes;
    lifetime_chunk* const chunk =
        detail::process_chunks.take(sizeof(lifetime_chunk) + gap + detail::stride_of(bytes));
    if (chunk == nullptr) return nullptr;
    std::uintptr_t const begin = detail::block_begin(chunk->begin(), std::max(alignment, default_alignment));
    bool const is_large = bytes > word_bits::size_mask;
    chunk->first_live = chunk->first_unreported = begin;
    chunk->end = begin + detail::stride_of(bytes);
    chunk->frame = job.frame;
    chunk->large_bytes = bytes;
    fill_prefix(begin, bytes);
    detail::header_of(begin).store(this_thread.job_word | (is_large ? word_bits::large : bytes),
                                   std::memory_order_relaxed);
    job.closed.push(chunk);
    return pointer_at(begin + temp_job::prefix_bytes);
}

}

void* temp_job::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr std::size_t most = max_object_bytes / 4;
    if (bytes > most || alignment > most || !is_power_of_two(alignment)) return nullptr;
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr) return nullptr;
    job_record& job = record->job;
    void* block = nullptr;
    bool const detoured = passes_through(part::temp_job);
    {
        std::lock_guard const lock(job.mutex);
        notice_frame(job);
        if (!detoured) block = bump(job, bytes, alignment);
        bool const is_large = bytes + alignment > detail::chunk_supply::smallest_bytes / 4;
        if (block == nullptr && !detoured && is_large) block = allocate_large(job, bytes, alignment);
        if (block == nullptr && !detoured && !is_large) {
            if (lifetime_chunk* const chunk = next_chunk(job); chunk != nullptr) {
                close_chunk(job);
                open_chunk(job, chunk);
                block = bump(job, bytes, alignment);
            }
        }
    }
    if (block != nullptr) return block;
    block = detail::allocate_direct(bytes, alignment, this_thread.job_word, detoured);
    if (block == nullptr) return nullptr;
    if constexpr (checks::caller) fill_prefix(address_of(block) - prefix_bytes, bytes);
    if (!detoured) {
        detail::job_seen.overflow_count.fetch_add(1, std::memory_order_relaxed);
        detail::job_seen.overflow_bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    return block;
}

void temp_job::deallocate_slow(void* block) noexcept {
    if (block == nullptr) return;
    if constexpr (checks::caller) {
        std::uintptr_t const begin = address_of(block) - prefix_bytes;
        bool const ours = is_aligned(block, default_alignment) && owns(block) &&
                          static_cast<detail::checked_prefix*>(pointer_at(begin))->proof ==
                              (detail::proof_of_block ^ begin);
        if (!ours) {
            report_misuse("TempJob was given a pointer that is not a block of its own", block,
                          "Free what temp_job::allocate or allocate(..., lifetime::temp_job) returned, and nothing "
                          "else.");
            return;
        }
    }
    detail::temp_job_header& header = detail::header_of(address_of(block) - prefix_bytes);
    std::uint64_t const before = header.fetch_or(word_bits::freed, std::memory_order_acq_rel);
    if (detail::is_freed(before)) {
        report_misuse("a TempJob block was freed twice", block,
                      "Look for a second owner of this block; the library built with checks names who allocated it.");
        return;
    }
    if ((before & word_bits::direct) != 0) return detail::free_direct(block);
    if constexpr (checks::caller) {
        // A block of 4 GiB and more is left unfilled: its size is in its chunk.
        if ((before & word_bits::large) == 0) platform::poison_freed(block, before & word_bits::size_mask);
    }
}

void temp_job::set_source(block_source& source) noexcept { detail::process_chunks.set_source(source); }

std::uint64_t detail::job_word_for(std::uint64_t frame, std::uint16_t tag_id) noexcept {
    return std::uint64_t{tag_id} << temp_job_word::tag_shift | frame_bits(frame) << temp_job_word::frame_shift;
}

bool detail::advance_first_live(lifetime_chunk& chunk, std::uintptr_t end) noexcept {
    chunk.first_live =
        walk_while(chunk, chunk.first_live, end, [](std::uintptr_t, std::uint64_t word) { return is_freed(word); });
    return chunk.first_live == end;
}

}
