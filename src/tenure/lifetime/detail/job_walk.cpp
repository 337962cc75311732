// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Walks over all of TempJob: leaks found and chunks released at the end of each frame, and queries by tests and stats.

#include <algorithm>
#include <atomic>

#include <tenure/base/frame_clock.hpp>
#include <tenure/base/options.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/lifetime/detail/job_blocks.hpp>
#include <tenure/lifetime/detail/job_counters.hpp>
#include <tenure/lifetime/detail/job_walk.hpp>
#include <tenure/lifetime/detail/leak_report.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>
#include <tenure/lifetime/lifetime.hpp>

namespace tenure::inline TENURE_ABI {

using detail::chunk_queue;
using detail::lifetime_chunk;
using detail::thread_record;
using detail::threads;
using word_bits = detail::temp_job_word;

namespace {

// Two seconds at 60 frames a second: longer than the time between a program's usual peaks.
constexpr std::uint64_t frames_to_keep_chunks = 120;

struct frame_end {
    std::uint64_t now;
    std::uint64_t limit;
    detail::found_leaks& leaks;

    /// Records a block that is too old, unless it is freed first. Returns   whether the block needs no further check.
    bool settle(const lifetime_chunk& chunk, std::uintptr_t bytes_at) const noexcept {
        const std::uint64_t word = detail::word_of(bytes_at);
        detail::job_state state = detail::state_of(bytes_at).load(std::memory_order_acquire);
        if (state != detail::job_state::live) return true;
        const std::uint64_t age = detail::age_of(word, chunk.frame, now);
        if (age <= limit || leaks.is_full()) return false;
        // If a free happens between the load and this exchange, the free wins: the block must not be reported.
        detail::copied_stack copy;
        if (detail::state_of(bytes_at).compare_exchange_strong(state, detail::job_state::reported))
            leaks.add(detail::describe(bytes_at, word, detail::size_of_block(chunk, word), age, copy));
        return true;
    }

    /// Settles one chunk. Blocks of a chunk are in order of age, so a chunk opened within the limit has no block that
    /// is too old. Such a chunk is not read, because its owner would have to fetch back the cache lines that it writes.
    /// In an older chunk the first young block ends the walk.
    void settle_chunk(lifetime_chunk& chunk, std::size_t used_words) const noexcept {
        if (now - chunk.frame <= limit) return;
        chunk.first_unreported =
            detail::visit_live(chunk, std::max(chunk.first_unreported, chunk.first_live), used_words,
                               [&](std::uintptr_t bytes_at) { return settle(chunk, bytes_at); });
    }

    /// Settles the part before the cursor of the chunk that a thread is filling. The state word at the cursor may get
    /// more blocks, so it is checked but not marked as done.
    void settle_current(const thread_record& record) const noexcept {
        lifetime_chunk* const chunk = record.job.current;
        if (chunk == nullptr) return;
        // Acquire: every block before the cursor is seen as live. allocate() releases it after the block's state.
        const std::uintptr_t cursor = record.job.front.cursor.load(std::memory_order_acquire);
        const std::size_t full_words = (cursor - address_of(chunk)) / default_alignment / sizeof(std::uint64_t);
        settle_chunk(*chunk, std::min(full_words + 1, detail::job_state_words));
        chunk->first_unreported = std::min(chunk->first_unreported, full_words);
    }

    /// Settles every chunk and releases the empty ones, unless their owner is about to reuse them.
    void settle_queue(chunk_queue& queue) const noexcept {
        chunk_queue remaining;
        while (queue.first != nullptr) {
            lifetime_chunk* const chunk = queue.pop();
            settle_chunk(*chunk, detail::job_state_words);
            const bool is_old = now - chunk->frame > limit || chunk->large_bytes != 0;
            if (is_old && detail::is_empty(*chunk))
                detail::process_chunks.release(chunk);
            else
                remaining.push(chunk);
        }
        queue = remaining;
    }
};

/// Calls `visit(chunk)` for every chunk, with every lock held.
template<class Visit>
void for_each_chunk(Visit&& visit) {
    const platform::lock_guard lock(threads.mutex);
    threads.adopt_inherited();
    for (thread_record* record = threads.first; record != nullptr; record = record->next) {
        const platform::lock_guard record_lock(record->job.mutex);
        for (lifetime_chunk* chunk = record->job.closed.first; chunk != nullptr; chunk = chunk->next) visit(*chunk);
        if (record->job.current != nullptr) visit(*record->job.current);
    }
    for (lifetime_chunk* chunk = threads.orphans.first; chunk != nullptr; chunk = chunk->next) visit(*chunk);
}

}

namespace {

/// One pass over everything. It finds all leaks, or as many as there is room for.
void settle_all(frame_end& end) noexcept {
    {
        const platform::lock_guard lock(threads.mutex);
        threads.adopt_inherited();
        for (thread_record* record = threads.first; record != nullptr; record = record->next) {
            const platform::lock_guard record_lock(record->job.mutex);
            record->job.front.limit.store(0, std::memory_order_relaxed);
            end.settle_queue(record->job.closed);
            end.settle_current(*record);
        }
        end.settle_queue(threads.orphans);
    }
    detail::for_each_direct(
        [](void* context, detail::direct_block& block) {
            const auto& to = *static_cast<const frame_end*>(context);
            const std::uint64_t word = detail::word_of(block.bytes_at());
            const std::uint64_t age = to.now - block.frame;
            if (block.reported || age <= to.limit || to.leaks.is_full()) return;
            block.reported = true;
            detail::copied_stack copy;
            to.leaks.add(detail::describe(block.bytes_at(), word, block.bytes, age, copy));
        },
        &end);
}

}

void detail::end_job_frame(std::uint64_t now) noexcept {
    found_leaks leaks;
    frame_end end{now, option_value(option::temp_job_frames), leaks};
    for (bool all_found = false; !all_found;) {
        settle_all(end);
        all_found = !leaks.is_full();
        leaks.report_all();
    }
    if (now > frames_to_keep_chunks) process_chunks.release_retained_before(now - frames_to_keep_chunks);
}

void detail::retire_temp_job(thread_record& record) noexcept {
    const platform::lock_guard lock(record.job.mutex);
    job_record& job = record.job;
    if (job.current != nullptr) job.closed.push(job.current);
    job.current = nullptr;
    while (job.closed.first != nullptr) {
        lifetime_chunk* const chunk = job.closed.pop();
        if (is_empty(*chunk))
            process_chunks.release(chunk);
        else
            threads.orphans.push(chunk);
    }
    job.front.limit.store(0, std::memory_order_relaxed);
}

bool temp_job::owns(const void* pointer) noexcept {
    bool found = false;
    for_each_chunk([&](const lifetime_chunk& chunk) { found = found || chunk.contains(pointer); });
    return found || detail::owns_direct(pointer);
}

void temp_job::for_each_live(void (*visit)(void*, const temp_job_leak&), void* context) noexcept {
    struct walk {
        void (*visit)(void*, const temp_job_leak&);
        void* context;
        std::uint64_t now;

        void see(std::uintptr_t bytes_at, std::size_t bytes, std::uint64_t word, std::uint64_t age) const noexcept {
            detail::copied_stack copy;
            visit(context, detail::describe(bytes_at, word, bytes, age, copy));
        }
    } to{visit, context, frame_clock::now()};
    // Create the record now: the visitor may use Temp, and creating one needs a lock that the walk holds.
    static_cast<void>(detail::record_of_this_thread());
    for_each_chunk([&](lifetime_chunk& chunk) {
        detail::visit_live(chunk, chunk.first_live, detail::job_state_words, [&](std::uintptr_t bytes_at) {
            const std::uint64_t word = detail::word_of(bytes_at);
            to.see(bytes_at, detail::size_of_block(chunk, word), word, detail::age_of(word, chunk.frame, to.now));
            return true;
        });
    });
    detail::for_each_direct(
        [](void* argument, detail::direct_block& block) {
            const std::uint64_t word = detail::word_of(block.bytes_at());
            const auto& walking = *static_cast<const walk*>(argument);
            walking.see(block.bytes_at(), block.bytes, word, walking.now - block.frame);
        },
        &to);
}

temp_job_stats temp_job::stats() noexcept {
    temp_job_stats answer;
    for_each_live(
        [](void* context, const temp_job_leak& block) {
            auto& sum = *static_cast<temp_job_stats*>(context);
            ++sum.live_count;
            sum.live_bytes += block.bytes;
        },
        &answer);
    answer.chunk_bytes = detail::process_chunks.held_bytes();
    answer.retained_bytes = detail::process_chunks.retained_bytes();
    answer.overflow_count = detail::job_seen.overflow_count.load(std::memory_order_relaxed);
    answer.overflow_bytes = detail::job_seen.overflow_bytes.load(std::memory_order_relaxed);
    answer.leaked_count = detail::job_seen.leaked_count.load(std::memory_order_relaxed);
    return answer;
}

namespace {

void release_empty(chunk_queue& queue) noexcept {
    chunk_queue remaining;
    while (queue.first != nullptr) {
        lifetime_chunk* const chunk = queue.pop();
        if (detail::is_empty(*chunk))
            detail::process_chunks.release(chunk);
        else
            remaining.push(chunk);
    }
    queue = remaining;
}

}

std::size_t temp_job::trim() noexcept {
    {
        const platform::lock_guard lock(threads.mutex);
        threads.adopt_inherited();
        for (thread_record* record = threads.first; record != nullptr; record = record->next) {
            const platform::lock_guard record_lock(record->job.mutex);
            release_empty(record->job.closed);
        }
        release_empty(threads.orphans);
    }
    return detail::retained_ranges.release_all() + detail::process_chunks.release_retained_before(UINT64_MAX);
}

bool temp_job::valid() noexcept {
    bool sound = true;
    for_each_chunk([&](lifetime_chunk& chunk) {
        std::uintptr_t free_from = detail::first_block(chunk);
        detail::visit_live(chunk, 0, detail::job_state_words, [&](std::uintptr_t bytes_at) {
            const std::uint64_t word = detail::word_of(bytes_at);
            const std::uintptr_t end = bytes_at + detail::size_of_block(chunk, word);
            sound = sound && bytes_at - prefix_bytes >= free_from && end <= chunk.limit();
            free_from = bytes_at - prefix_bytes + detail::stride_of(end - bytes_at);
            return sound;
        });
    });
    return sound;
}

}
