// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/thread_record.hpp>

#include <new>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/platform/fork_handler.hpp>
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

void chunk_queue::append_all(chunk_queue& other) noexcept {
    if (other.first == nullptr) return;
    (last != nullptr ? last->next : first) = other.first;
    last = other.last;
    other = {};
}

lifetime_chunk* chunk_queue::pop() noexcept {
    lifetime_chunk* const chunk = first;
    first = chunk->next;
    if (first == nullptr) last = nullptr;
    check_invariant((first == nullptr) == (last == nullptr), "TempJob: a queue of chunks has no last element", chunk);
    chunk->next = nullptr;
    return chunk;
}

void thread_registry::adopt_inherited() noexcept {
    while (inherited != nullptr) {
        thread_record* const record = inherited;
        inherited = record->next;
        orphans.append_all(record->job.closed);
        if (record->job.current != nullptr) orphans.push(record->job.current);
        record->next = unused;
        unused = record;
    }
}

namespace {

// Number of thread-end rounds so far. The system runs thread-end destructors in rounds. A destructor between two rounds
// may use Temp and TempJob and gets a record, which the next round closes. After the last round no record is made,
// because nothing would close it. Rounds before the thread's first use are not counted. So if the first use is in a
// destructor of the very last round, the record, its range and its chunks are abandoned. The next thread whose
// thread-local state is at the same address closes that record.
TENURE_THREAD_LOCAL std::size_t rounds_of_end = 0;

/// Every lock except the registry's, which must be held so that the list of records does not change.
template<class Visit>
void for_each_inner_lock(Visit&& visit) noexcept {
    for (thread_record* record = threads.first; record != nullptr; record = record->next) visit(record->job.mutex);
    visit(direct_mutex());
    visit(process_chunks.mutex());
}

/// Runs in the child of a fork. TempJob's blocks of the parent's other threads stay allocated and age: code in the
/// child that knows of them frees them. The Temp of those threads stays as it is, because their jobs may have passed
/// pointers into it to the thread that forked.
void leave_to_child() noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.abandon(); });
    threads.mutex.abandon();
    thread_record* const mine = this_thread.record;
    for (thread_record* record = threads.first; record != nullptr;) {
        thread_record* const next = record->next;
        if (record != mine) {
            record->next = threads.inherited;
            threads.inherited = record;
        }
        record = next;
    }
    threads.first = mine;
    threads.of_threads = {};
    if (mine == nullptr) return;
    mine->next = mine->previous = nullptr;
    threads.of_threads.add(*mine);
}

constexpr platform::fork_steps steps_of_lifetimes{
    [](void*) noexcept {
        threads.mutex.lock();
        for_each_inner_lock([](platform::mutex& lock) { lock.lock(); });
    },
    [](void*) noexcept {
        for_each_inner_lock([](platform::mutex& lock) { lock.unlock(); });
        threads.mutex.unlock();
    },
    [](void*) noexcept { leave_to_child(); },
};
constinit platform::fork_handler of_lifetimes{platform::fork_order::lifetimes, nullptr, steps_of_lifetimes};
__attribute__((constructor(101))) void register_fork_handlers() noexcept { of_lifetimes.enlist(); }

std::size_t record_bytes() noexcept { return align_up(sizeof(thread_record), platform::page_bytes()); }

void remove(thread_record& record) noexcept {
    unlink(threads.first, record);
    threads.of_threads.remove(record);
}

/// Closes the record of a thread that has ended. Requires  the calling thread has no record, or this one.
void close_record(thread_record& record) noexcept {
    release_temp(record);
    const platform::lock_guard lock(threads.mutex);
    retire_temp_job(record);
    remove(record);
    this_thread.record = nullptr;
    this_thread.job = &no_job_front;
    current_tag.changed = nullptr;
    record.next = threads.unused;
    threads.unused = &record;
}

void end_of_thread() noexcept {
    if (++rounds_of_end < platform::thread_end_rounds()) platform::at_thread_end(&end_of_thread);
    if (this_thread.record != nullptr) close_record(*this_thread.record);
}

/// An abandoned record of an earlier thread whose state was at the calling thread's address; nullptr if there is none.
thread_record* find_left_behind() noexcept {
    const platform::lock_guard lock(threads.mutex);
    return threads.of_threads.find(&this_thread);
}

void tag_changed(std::uint16_t before, std::uint16_t now) noexcept {
    thread_record& record = *this_thread.record;
    count_tagged_temp(record, before);
    record.job.front.word = job_word_for(record.job.frame, now);
}

thread_record* make_record(bool temp_passthrough, bool temp_job_passthrough) noexcept {
    void* memory = nullptr;
    const platform::lock_guard lock(threads.mutex);
    if (threads.unused != nullptr) {
        memory = threads.unused;
        threads.unused = threads.unused->next;
    } else {
        memory = platform::map(record_bytes(), cache_line_bytes);
        if (memory == nullptr) return nullptr;
    }
    auto* const record = new (memory) thread_record;
    record->scratch.passthrough = temp_passthrough;
    record->job.passthrough = temp_job_passthrough;
    record->thread = &this_thread;
    push_front(threads.first, *record);
    threads.of_threads.add(*record);
    return record;
}

}

thread_record* record_of_this_thread() noexcept {
    if (this_thread.record != nullptr) return this_thread.record;
    const bool is_over = rounds_of_end >= platform::thread_end_rounds();
    if (is_over) return nullptr;
    if (!platform::at_thread_end(&end_of_thread)) {
        if (!platform::has_end_slot(&end_of_thread)) rounds_of_end = platform::thread_end_rounds(); // do not ask again
        return nullptr;
    }
    // Before the lock: the first read of an option may report a bad value to a handler that allocates.
    const bool temp_passthrough = passthrough_enabled(part::temp);
    const bool temp_job_passthrough = passthrough_enabled(part::temp_job);
    if (this_thread.record != nullptr) return this_thread.record;
    if (thread_record* const left = find_left_behind(); left != nullptr) close_record(*left);
    thread_record* const record = make_record(temp_passthrough, temp_job_passthrough);
    if (record == nullptr) return nullptr;
    this_thread.record = record;
    this_thread.job = &record->job.front;
    current_tag.changed = &tag_changed;
    return record;
}

}

}
