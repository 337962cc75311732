// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp_job.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/options.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/lifetime/detail/job_blocks.hpp>
#include <tenure/lifetime/detail/job_counters.hpp>
#include <tenure/lifetime/detail/job_guards.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::job_counters detail::job_seen{};

using detail::job_record;
using detail::lifetime_chunk;
using detail::thread_record;
using word_bits = detail::temp_job_word;

namespace {

constexpr int chunks_to_look_at = 3;
// A block larger than this would leave too much of a shared chunk unused.
constexpr std::size_t large_from_bytes = detail::chunk_cache::min_bytes / 4;
// A block must start in its chunk's first 64 KiB, because the state table covers only those.
constexpr std::size_t max_alignment_in_chunk = detail::job_chunk_alignment / 2;
// A block stores 12 bits of its frame. A chunk that an idle thread keeps open is closed long before they wrap.
constexpr std::uint64_t oldest_open_chunk = 1024;

void open_chunk(job_record& job, lifetime_chunk* chunk) noexcept {
    job.current = chunk;
    chunk->first_live = chunk->first_unreported = 0;
    chunk->large_bytes = 0;
    chunk->frame = job.frame;
    job.front.cursor.store(detail::first_block(*chunk), std::memory_order_relaxed);
    job.front.limit.store(chunk->limit(), std::memory_order_relaxed);
}

void close_chunk(job_record& job) noexcept {
    if (job.current == nullptr) return;
    job.closed.push(job.current);
    job.current = nullptr;
    job.front.limit.store(0, std::memory_order_relaxed);
}

/// Takes over the frame that next_frame() began, and restores the limit that it cleared.
void notice_frame(job_record& job) noexcept {
    const std::uint64_t now = frame_clock::now();
    const bool is_new = job.frame != now;
    job.frame = now;
    job.front.word = detail::job_word_for(now, detail::this_thread_tag().id);
    if (job.current == nullptr) return;
    if (now - job.current->frame > oldest_open_chunk) return close_chunk(job);
    // All blocks of earlier frames may be freed by now. Then refill the chunk from its start while it is in the cache.
    if (is_new && detail::is_empty(*job.current)) return open_chunk(job, job.current);
    job.front.limit.store(job.current->limit(), std::memory_order_relaxed);
}

/// A chunk for the next blocks: one of the thread's own that is empty by now, else one from the supply.
lifetime_chunk* next_chunk(job_record& job) noexcept {
    if (job.current != nullptr && detail::is_empty(*job.current)) return std::exchange(job.current, nullptr);
    // The oldest chunk is the most likely to be empty. A chunk with a long-lived block moves to the back of the queue,
    // so that it does not block the others. This also covers programs that never end a frame.
    for (int look = 0; look < chunks_to_look_at && job.closed.first != nullptr; ++look) {
        lifetime_chunk* const chunk = job.closed.pop();
        if (!detail::is_empty(*chunk)) {
            job.closed.push(chunk);
            continue;
        }
        if (chunk->bytes == detail::chunk_cache::min_bytes) return chunk;
        detail::process_chunks.release(chunk);
    }
    return detail::process_chunks.acquire(detail::chunk_cache::min_bytes, detail::at_limit::fail);
}

/// Makes the block at `begin` live.
void* publish(const job_record& job, std::uintptr_t begin, std::size_t bytes) noexcept {
    if constexpr (checks::caller) detail::open_job_guards(begin, bytes);
    const std::uintptr_t bytes_at = begin + temp_job::prefix_bytes;
    const bool is_large = bytes > word_bits::size_mask;
    detail::header_of(bytes_at).store(job.front.word | (is_large ? word_bits::large : bytes),
                                      std::memory_order_relaxed);
    detail::state_of(bytes_at).store(detail::job_state::live, std::memory_order_release);
    return pointer_at(bytes_at);
}

/// Allocates a block in the current chunk; nullptr when the chunk is full.
void* bump(job_record& job, std::size_t bytes, std::size_t alignment) noexcept {
    if (job.current == nullptr) return nullptr;
    const std::uintptr_t from = job.front.cursor.load(std::memory_order_relaxed);
    const std::uintptr_t begin = detail::block_begin(from, std::max(alignment, default_alignment));
    const std::uintptr_t limit = job.current->limit();
    if (begin > limit || detail::stride_of(bytes) > limit - begin) return nullptr;
    void* const block = publish(job, begin, bytes);
    job.front.cursor.store(begin + detail::stride_of(bytes), std::memory_order_release);
    return block;
}

/// Allocates a chunk for one block that would waste space in a shared one.
void* allocate_large(job_record& job, std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t gap = std::max(alignment, default_alignment) + temp_job::prefix_bytes;
    lifetime_chunk* const chunk = detail::process_chunks.acquire(
        detail::chunk_lead_bytes + gap + detail::stride_of(bytes), detail::at_limit::fail);
    if (chunk == nullptr) return nullptr;
    chunk->first_live = chunk->first_unreported = 0;
    chunk->frame = job.frame;
    chunk->large_bytes = bytes;
    void* const block =
        publish(job, detail::block_begin(chunk->begin(), std::max(alignment, default_alignment)), bytes);
    job.closed.push(chunk);
    return block;
}

void* allocate_in_chunk(job_record& job, std::size_t bytes, std::size_t alignment) noexcept {
    if (alignment > max_alignment_in_chunk) return nullptr;
    if (void* const block = bump(job, bytes, alignment); block != nullptr) return block;
    if (bytes + alignment > large_from_bytes) return allocate_large(job, bytes, alignment);
    lifetime_chunk* const chunk = next_chunk(job);
    if (chunk == nullptr) return nullptr;
    close_chunk(job);
    open_chunk(job, chunk);
    return bump(job, bytes, alignment);
}

}

void* temp_job::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of TempJob", bytes);
    constexpr std::size_t most = max_object_bytes / 4;
    if (!is_power_of_two(alignment)) {
        if constexpr (checks::caller) report_alignment("TempJob", alignment);
        return nullptr;
    }
    if (bytes > most || alignment > most) return nullptr;
    thread_record* const record = detail::record_of_this_thread();
    void* block = nullptr;
    const bool passthrough = record != nullptr ? record->job.passthrough : passthrough_enabled(part::temp_job);
    if (record != nullptr) {
        job_record& job = record->job;
        const platform::lock_guard lock(job.mutex);
        notice_frame(job);
        if (!passthrough) block = allocate_in_chunk(job, bytes, alignment);
        if (checks::caller && block != nullptr) detail::close_job_guards(block, bytes, TENURE_RETURN_ADDRESS());
    }
    if (block != nullptr) return block;
    detail::process_chunks.report_misaligned();
    const std::uint64_t word = detail::job_word_for(frame_clock::now(), detail::this_thread_tag().id);
    block = detail::allocate_direct(bytes, alignment, word,
                                    passthrough ? detail::direct_home::malloc : detail::direct_home::heap);
    if (block == nullptr) return nullptr;
    if constexpr (checks::caller) {
        detail::open_job_guards(address_of(block) - prefix_bytes, bytes);
        detail::close_job_guards(block, bytes, TENURE_RETURN_ADDRESS());
    }
    detail::list_direct(block);
    if (!passthrough && alignment <= max_alignment_in_chunk) {
        detail::job_seen.overflow_count.fetch_add(1, std::memory_order_relaxed);
        detail::job_seen.overflow_bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    return block;
}

void temp_job::deallocate_slow(void* block) noexcept {
    [[maybe_unused]] const detail::caller_release release("a block of TempJob", block);
    if (block == nullptr) return;
    if constexpr (checks::caller) {
        if (!detail::check_job_block(block)) return;
    }
    const std::uint64_t word = detail::word_of(address_of(block));
    if ((word & word_bits::direct) != 0) return detail::free_direct(block);
    detail::job_state_byte& state = detail::state_of(address_of(block));
    if constexpr (checks::caller) {
        // Fill before the state says free: afterwards the block may belong to another thread. Blocks of 4 GiB or more
        // are not filled, because their size is in the chunk.
        const bool fill = state.load(std::memory_order_relaxed) != detail::job_state::none;
        if (fill && (word & word_bits::large) == 0) platform::poison_freed(block, word & word_bits::size_mask);
    }
    if (state.exchange(detail::job_state::none, std::memory_order_acq_rel) != detail::job_state::none) return;
    detail::report_no_live_job(block);
}

bool detail::report_temp_as_job(const void* block) noexcept {
    if (!is_in_range_of_temp(block)) return false;
    report_misuse("a block of Temp was freed as TempJob", block,
                  "Free it as Temp, or not at all: its scope, reset_temp() or the frame frees it.");
    return true;
}

void detail::report_no_live_job(const void* block) noexcept {
    if (report_temp_as_job(block)) return;
    if constexpr (checks::caller)
        return report_misuse("a TempJob block was freed twice", block, "Look for a second owner of this block.");
    report_misuse(
        "a TempJob block was freed twice, or is not TempJob's", block,
        "Look for a second owner, or for a block of another lifetime; a library built with checks tells the two "
        "apart.");
}

void temp_job::deallocate_sized(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept {
    if constexpr (checks::caller) {
        if (block == nullptr || !detail::check_job_block(block, least_bytes, max_bytes)) return;
    }
    deallocate_slow(block);
}

bool temp_job::warm_up(std::size_t bytes) noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr || bytes > max_warm_up_bytes) return false;
    if (record->job.passthrough) return true;
    job_record& job = record->job;
    std::uintptr_t cursor = 0, limit = 0;
    {
        const platform::lock_guard lock(job.mutex);
        notice_frame(job);
        if (job.current == nullptr) {
            lifetime_chunk* const chunk = next_chunk(job);
            if (chunk != nullptr) open_chunk(job, chunk);
        }
        if (job.current == nullptr) return false;
        cursor = job.front.cursor.load(std::memory_order_relaxed);
        limit = job.current->limit();
    }
    // Without the lock, for which next_frame() would wait: only this thread moves its cursor and closes its chunk.
    const std::size_t here = std::min(bytes, limit - cursor);
    bool is_ready = platform::prefault(cursor, cursor + here);
    // All chunks are acquired before the first is released, so that they are not the same one.
    constexpr std::size_t each = detail::chunk_cache::min_bytes - detail::chunk_lead_bytes;
    lifetime_chunk* more = nullptr;
    for (std::size_t left = bytes - here; left != 0 && is_ready; left -= std::min(left, each)) {
        auto* const chunk = detail::process_chunks.acquire(detail::chunk_cache::min_bytes, detail::at_limit::fail);
        if (chunk == nullptr) {
            is_ready = false;
            break;
        }
        is_ready = platform::prefault(chunk->begin(), chunk->begin() + std::min(left, each));
        chunk->next = std::exchange(more, chunk);
    }
    while (more != nullptr) detail::process_chunks.release(std::exchange(more, more->next));
    if (!is_ready) detail::process_chunks.release_retained_before(UINT64_MAX);
    return is_ready;
}

void temp_job::set_source(block_source& source) noexcept {
    if constexpr (checks::caller) {
        if (source.threads() != sharing::any_thread) {
            report_misuse("TempJob was given a block source for one thread", &source,
                          "Use a source whose threads() is sharing::any_thread: every thread takes chunks from it.");
            return;
        }
    }
    detail::process_chunks.set_source(source);
}

std::uint64_t detail::job_word_for(std::uint64_t frame, std::uint16_t tag_id) noexcept {
    return std::uint64_t{tag_id} << temp_job_word::tag_shift | frame_bits(frame) << temp_job_word::frame_shift;
}

bool detail::is_empty(lifetime_chunk& chunk) noexcept {
    const std::atomic<std::uint64_t>* const states = state_words(chunk);
    std::size_t word = chunk.first_live;
    // Acquire: pairs with the release in deallocate(), whose thread has done with the block.
    while (word < job_state_words && states[word].load(std::memory_order_acquire) == 0) ++word;
    chunk.first_live = word;
    if (word != job_state_words) return false;
    // Threads free one byte at a time. ThreadSanitizer sees the order only if the reader loads the same byte.
    if constexpr (thread_sanitizer) {
        const auto* const bytes = static_cast<job_state_byte*>(pointer_at(address_of(states)));
        for (std::size_t index = 0; index < job_state_count; ++index)
            static_cast<void>(bytes[index].load(std::memory_order_acquire));
    }
    return true;
}

}
