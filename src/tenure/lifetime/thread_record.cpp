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
// them may use Temp and TempJob and gets a record, which the next round takes apart. After the last round none is made:
// nothing would take it apart, and next_frame() would write to a thread that is gone.
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
    current_tag.changed = nullptr;
    record->next = threads.unused;
    threads.unused = record;
}

void tag_changed(std::uint16_t before, std::uint16_t now) noexcept {
    thread_record& record = *this_thread.record;
    count_tagged_temp(record, before);
    this_thread.job_word = job_word_for(record.job.frame, now);
}

thread_record* make_record() noexcept {
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
    record->inline_state = &this_thread;
    record->scratch.detoured = passes_through(part::temp);
    record->job.detoured = passes_through(part::temp_job);
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
    thread_record* const record = make_record();
    if (record == nullptr) return nullptr;
    this_thread.record = record;
    current_tag.changed = &tag_changed;
    return record;
}

}

}
