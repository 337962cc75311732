// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Walks over all of TempJob: the leak report and the return of chunks at each frame, and what tests and statistics ask.

#include <algorithm>
#include <mutex>

#include <tenure/base/frame_clock.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/report.hpp>
#include <tenure/lifetime/direct_blocks.hpp>
#include <tenure/lifetime/job_blocks.hpp>
#include <tenure/lifetime/job_counters.hpp>
#include <tenure/lifetime/job_walk.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/thread_record.hpp>

namespace tenure::inline TENURE_ABI {

using detail::chunk_queue;
using detail::job_record;
using detail::lifetime_chunk;
using detail::thread_record;
using detail::threads;
using word_bits = detail::temp_job_word;

namespace {

// Two seconds at 60 frames a second: longer than a program's usual peaks are apart.
constexpr std::uint64_t frames_to_keep_chunks = 120;

std::atomic<temp_job_leak_handler> leak_handler{nullptr};

void report_leak(const temp_job_leak& leak) noexcept {
    detail::job_seen.leaked_count.fetch_add(1, std::memory_order_relaxed);
    if (temp_job_leak_handler const handler = leak_handler.load(std::memory_order_acquire); handler != nullptr)
        return handler(leak);
    report_text text;
    text.text("TempJob block ").address(leak.address).text(" of ").number(leak.bytes).text(" bytes, owner ");
    text.text(leak.owner.name()).text(", is still alive after ").number(leak.age_frames);
    text.text(" frames. Free it within ").number(option_value(option::temp_job_frames));
    text.text(" frames, or allocate it as lifetime::persistent.");
    if (leak.owner.id() == 0) text.text(" A tag_scope around the allocation makes this report name its owner.");
    report(report_kind::leak, text.view());
    if (leak.stack_count != 0) host::write_stack(leak.stack, leak.stack_count);
}

struct frame_end {
    std::uint64_t now;
    std::uint64_t limit;

    /// Reports a block that is too old, unless it is freed first. Returns whether it needs no further look.
    bool settle(std::uintptr_t begin, std::uint64_t word, std::size_t bytes) const noexcept {
        if ((word & (word_bits::freed | word_bits::reported)) != 0) return true;
        if (detail::age_of(word, now) <= limit) return false;
        // A free that comes between the look and this write wins: it must not be named, nor its mark be lost.
        if (detail::header_of(begin).compare_exchange_strong(word, word | word_bits::reported))
            report_leak(detail::describe(begin, word, bytes, now));
        return true;
    }

    /// Blocks of a chunk are in the order of their age, so the first young one ends the walk. What is freed at the
    /// front is passed for good, so that over its life a block is looked at once or twice.
    void settle_chunk(lifetime_chunk& chunk, std::uintptr_t end) const noexcept {
        bool const all_freed = detail::advance_first_live(chunk, end);
        chunk.first_unreported = std::max(chunk.first_unreported, chunk.first_live);
        if (all_freed) return;
        chunk.first_unreported =
            detail::walk_while(chunk, chunk.first_unreported, end, [&](std::uintptr_t at, std::uint64_t word) {
                return settle(at, word, detail::size_of_block(chunk, word));
            });
    }

    /// Settles every chunk and gives back those whose blocks are all freed.
    void settle_queue(chunk_queue& queue) const noexcept {
        chunk_queue remaining;
        while (queue.first != nullptr) {
            lifetime_chunk* const chunk = queue.pop();
            settle_chunk(*chunk, chunk->end);
            if (chunk->first_live == chunk->end) detail::process_chunks.give(chunk);
            else remaining.push(chunk);
        }
        queue = remaining;
    }
};

/// Calls `visit(chunk, end of its blocks)` for every chunk, with every lock held.
template<class Visit>
void for_each_chunk(Visit&& visit) {
    std::lock_guard const lock(threads.mutex);
    for (thread_record* record = threads.first; record != nullptr; record = record->next) {
        std::lock_guard const record_lock(record->job.mutex);
        for (lifetime_chunk* chunk = record->job.closed.first; chunk != nullptr; chunk = chunk->next)
            visit(*chunk, chunk->end);
        if (record->job.current != nullptr)
            visit(*record->job.current, record->inline_state->job_cursor.load(std::memory_order_acquire));
    }
    for (lifetime_chunk* chunk = threads.orphans.first; chunk != nullptr; chunk = chunk->next)
        visit(*chunk, chunk->end);
}

}

temp_job_leak detail::describe(std::uintptr_t begin, std::uint64_t word, std::size_t bytes,
                               std::uint64_t now) noexcept {
    temp_job_leak leak;
    leak.address = pointer_at(begin + temp_job::prefix_bytes);
    leak.bytes = bytes;
    leak.age_frames = age_of(word, now);
    leak.owner = tag::from_id(static_cast<std::uint16_t>(word >> temp_job_word::tag_shift));
    if constexpr (checks::caller) {
        auto const& prefix = *static_cast<checked_prefix const*>(pointer_at(begin));
        leak.stack = prefix.stack;
        while (leak.stack_count < stack_capacity && prefix.stack[leak.stack_count] != nullptr) ++leak.stack_count;
    }
    return leak;
}

void detail::end_job_frame(std::uint64_t now) noexcept {
    frame_end end{now, option_value(option::temp_job_frames)};
    {
        std::lock_guard const lock(threads.mutex);
        for (thread_record* record = threads.first; record != nullptr; record = record->next) {
            std::lock_guard const record_lock(record->job.mutex);
            thread_lifetimes& state = *record->inline_state;
            state.job_limit.store(0, std::memory_order_relaxed);
            end.settle_queue(record->job.closed);
            if (record->job.current != nullptr)
                end.settle_chunk(*record->job.current, state.job_cursor.load(std::memory_order_acquire));
        }
        end.settle_queue(threads.orphans);
    }
    for_each_direct(
        [](void* context, std::uintptr_t begin, std::size_t bytes) {
            std::uint64_t const word = detail::header_of(begin).load(std::memory_order_acquire);
            static_cast<frame_end const*>(context)->settle(begin, word, bytes);
        },
        &end);
    if (now > frames_to_keep_chunks) process_chunks.release_kept_before(now - frames_to_keep_chunks);
}

void detail::retire_temp_job(thread_record& record) noexcept {
    std::lock_guard const lock(record.job.mutex);
    job_record& job = record.job;
    if (job.current != nullptr) {
        job.current->end = this_thread.job_cursor.load(std::memory_order_relaxed);
        job.closed.push(job.current);
        job.current = nullptr;
    }
    while (job.closed.first != nullptr) {
        lifetime_chunk* const chunk = job.closed.pop();
        if (advance_first_live(*chunk, chunk->end)) process_chunks.give(chunk);
        else threads.orphans.push(chunk);
    }
    this_thread.job_cursor.store(0, std::memory_order_relaxed);
    this_thread.job_limit.store(0, std::memory_order_relaxed);
}

temp_job_leak_handler temp_job::set_leak_handler(temp_job_leak_handler handler) noexcept {
    return leak_handler.exchange(handler, std::memory_order_acq_rel);
}

bool temp_job::owns(const void* pointer) noexcept {
    bool found = false;
    for_each_chunk([&](lifetime_chunk const& chunk, std::uintptr_t) { found = found || chunk.contains(pointer); });
    return found || detail::owns_direct(pointer);
}

void temp_job::for_each_live(void (*visit)(void*, const temp_job_leak&), void* context) noexcept {
    std::uint64_t const now = frame_clock::now();
    for_each_chunk([&](lifetime_chunk const& chunk, std::uintptr_t end) {
        for (std::uintptr_t at = chunk.first_live; at != end;) {
            std::uint64_t const word = detail::header_of(at).load(std::memory_order_acquire);
            if (!detail::is_freed(word))
                visit(context, detail::describe(at, word, detail::size_of_block(chunk, word), now));
            at = detail::next_block(at, word, end);
        }
    });
    struct direct_visit {
        void (*visit)(void*, const temp_job_leak&);
        void* context;
        std::uint64_t now;
    } direct{visit, context, now};
    detail::for_each_direct(
        [](void* argument, std::uintptr_t begin, std::size_t bytes) {
            auto const& to = *static_cast<direct_visit*>(argument);
            std::uint64_t const word = detail::header_of(begin).load(std::memory_order_acquire);
            if (!detail::is_freed(word)) to.visit(to.context, detail::describe(begin, word, bytes, to.now));
        },
        &direct);
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
    answer.kept_bytes = detail::process_chunks.kept_bytes();
    answer.overflow_count = detail::job_seen.overflow_count.load(std::memory_order_relaxed);
    answer.overflow_bytes = detail::job_seen.overflow_bytes.load(std::memory_order_relaxed);
    answer.leaked_count = detail::job_seen.leaked_count.load(std::memory_order_relaxed);
    return answer;
}

std::size_t temp_job::trim() noexcept {
    {
        frame_end const nothing_is_too_old{frame_clock::now(), word_bits::frame_mask};
        std::lock_guard const lock(threads.mutex);
        for (thread_record* record = threads.first; record != nullptr; record = record->next) {
            std::lock_guard const record_lock(record->job.mutex);
            nothing_is_too_old.settle_queue(record->job.closed);
        }
        nothing_is_too_old.settle_queue(threads.orphans);
    }
    return detail::process_chunks.release_kept_before(UINT64_MAX);
}

bool temp_job::valid() noexcept {
    bool sound = true;
    for_each_chunk([&](lifetime_chunk const& chunk, std::uintptr_t end) {
        std::uintptr_t at = detail::first_block(chunk);
        if (chunk.large_bytes != 0) at = chunk.first_live;
        bool met_first_live = false;
        while (at < end) {
            met_first_live = met_first_live || at == chunk.first_live;
            std::uint64_t const word = detail::header_of(at).load(std::memory_order_acquire);
            sound = sound && (detail::is_freed(word) || met_first_live);
            at = detail::next_block(at, word, end);
        }
        sound = sound && at == end && end <= chunk.limit();
    });
    return sound;
}

}
