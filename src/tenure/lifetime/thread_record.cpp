// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/thread_record.hpp>

#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::job_front detail::no_job_front{};
TENURE_THREAD_LOCAL detail::thread_lifetimes detail::this_thread{};
constinit detail::thread_registry detail::threads{};

namespace detail {

void chunk_queue::push(lifetime_chunk* chunk) noexcept {
    chunk->next = nullptr;
    (last != nullptr ? last->next : first) = chunk;
    last = chunk;
}

lifetime_chunk* chunk_queue::pop() noexcept {
    lifetime_chunk* const chunk = first;
    first = chunk->next;
    if (first == nullptr) last = nullptr;
    check_invariant((first == nullptr) == (last == nullptr), "TempJob: a queue of chunks has lost its end", chunk);
    chunk->next = nullptr;
    return chunk;
}

namespace {

// How often the thread's end has been told to us. The system tells it in rounds; a destructor that comes between two of
// them may use Temp and TempJob and gets a record, which the next round takes apart. After our last round none is made:
// nothing would take it apart. Rounds before the thread's first use are not told, so a destructor that is the first to
// use them, in the last round of all, leaves a record behind, with its range and chunks, until the process ends.
TENURE_THREAD_LOCAL std::size_t rounds_of_end = 0;

std::size_t record_bytes() noexcept { return align_up(sizeof(thread_record), platform::page_bytes()); }

void unlink(thread_record& record) noexcept {
    (record.previous != nullptr ? record.previous->next : threads.first) = record.next;
    if (record.next != nullptr) record.next->previous = record.previous;
}

void end_of_thread() noexcept {
    if (++rounds_of_end < platform::thread_end_rounds()) platform::at_thread_end(&end_of_thread);
    thread_record* const record = this_thread.record;
    if (record == nullptr) return;
    release_temp(*record);
    std::lock_guard const lock(threads.mutex);
    retire_temp_job(*record);
    unlink(*record);
    this_thread.record = nullptr;
    this_thread.job = &no_job_front;
    current_tag.changed = nullptr;
    record->next = threads.unused;
    threads.unused = record;
}

void tag_changed(std::uint16_t before, std::uint16_t now) noexcept {
    thread_record& record = *this_thread.record;
    count_tagged_temp(record, before);
    record.job.front.word = job_word_for(record.job.frame, now);
}

thread_record* make_record(bool temp_detoured, bool job_detoured) noexcept {
    void* memory = nullptr;
    std::lock_guard const lock(threads.mutex);
    if (threads.unused != nullptr) {
        memory = threads.unused;
        threads.unused = threads.unused->next;
    } else {
        memory = platform::map(record_bytes(), cache_line_bytes);
        if (memory == nullptr) return nullptr;
    }
    auto* const record = new (memory) thread_record;
    record->scratch.detoured = temp_detoured;
    record->job.detoured = job_detoured;
    record->next = threads.first;
    if (threads.first != nullptr) threads.first->previous = record;
    threads.first = record;
    return record;
}

}

thread_record* record_of_this_thread() noexcept {
    if (this_thread.record != nullptr) return this_thread.record;
    bool const is_over = rounds_of_end >= platform::thread_end_rounds();
    if (is_over || !platform::at_thread_end(&end_of_thread)) return nullptr;
    // Before the lock: the first question of all may report a bad value, to a handler that allocates.
    bool const temp_detoured = passes_through(part::temp);
    bool const job_detoured = passes_through(part::temp_job);
    if (this_thread.record != nullptr) return this_thread.record;
    thread_record* const record = make_record(temp_detoured, job_detoured);
    if (record == nullptr) return nullptr;
    this_thread.record = record;
    this_thread.job = &record->job.front;
    current_tag.changed = &tag_changed;
    return record;
}

}

}
