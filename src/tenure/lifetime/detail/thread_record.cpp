// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/thread_record.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include <tenure/base/align.hpp>
#include <tenure/base/check.hpp>
#include <tenure/base/linked_list.hpp>
#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/platform/fork_handler.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>
#include <tenure/platform/thread.hpp>

namespace tenure::inline TENURE_ABI {

constinit detail::job_front detail::no_job_front{};
constinit detail::temp_front detail::no_temp_front{};
constinit detail::thread_registry detail::threads{};
constinit detail::retained_temp_ranges detail::retained_ranges{};

namespace detail {

TENURE_DEFINE_THREAD_LOCAL(thread_lifetimes, this_thread)

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

std::uintptr_t reserve_temp_ranges(std::size_t count, std::size_t bytes) noexcept {
    // Where the system chooses: aligned reservations lie where heaps extend their segments in place. Both ends go back.
    const std::size_t page = platform::page_bytes();
    const std::size_t wanted = align_up(count * (temp_lead_bytes + bytes), page);
    const std::size_t extra = temp_range_alignment - page;
    void* const reserved = platform::reserve(wanted + extra, page);
    if (reserved == nullptr) return 0;
    const std::uintptr_t first = align_up(address_of(reserved), temp_range_alignment);
    const std::size_t front = first - address_of(reserved);
    if (front != 0) platform::unreserve(reserved, front);
    if (front != extra) platform::unreserve(pointer_at(first + wanted), extra - front);
    return first + temp_lead_bytes;
}

void unreserve_temp_range(std::uintptr_t begin, std::size_t bytes) noexcept {
    platform::unreserve(pointer_at(begin - temp_lead_bytes), temp_lead_bytes + bytes);
}

bool commit_temp_range(std::uintptr_t begin, std::uintptr_t from, std::uintptr_t to) noexcept {
    if (from == begin) from -= platform::page_bytes();
    return platform::commit(pointer_at(from), to - from);
}

void retained_temp_ranges::prepare() noexcept {
    if constexpr (checks::caller) return;
    constexpr std::size_t count = 2; // for the main thread and the first other one
    constexpr std::size_t pages_touched = 2;
    const std::size_t page = platform::page_bytes();
    const std::size_t bytes = align_up(option_table()[static_cast<std::size_t>(option::temp_budget_bytes)].built_in,
                                       temp_range_alignment); // a multiple: the ranges are neighbours
    const std::size_t committed = align_up(touched_bytes, page);
    const platform::lock_guard lock(mutex_);
    if (count_ != 0) return; // constructors that ran before have used Temp, in threads that have ended
    const std::uintptr_t first = reserve_temp_ranges(count, bytes);
    if (first == 0) return;
    for (std::size_t index = 0; index < count; ++index) {
        const std::uintptr_t begin = first + index * (temp_lead_bytes + bytes);
        ranges_[count_++] = {begin, bytes, commit_temp_range(begin, begin, begin + committed) ? committed : 0, 0};
    }
    if (ranges_[0].committed == 0) return;
    for (std::size_t index = 0; index < pages_touched; ++index)
        *static_cast<volatile unsigned char*>(pointer_at(first + index * page)) = 0;
    ranges_[0].touched = pages_touched * page;
}

std::uintptr_t retained_temp_ranges::take(std::size_t bytes, std::size_t& committed) noexcept {
    const platform::lock_guard lock(mutex_);
    for (std::size_t index = 0; index < count_; ++index) {
        const range found = ranges_[index];
        if (found.bytes != bytes) continue;
        ranges_[index] = ranges_[--count_];
        committed = found.committed;
        return found.begin;
    }
    return 0;
}

bool retained_temp_ranges::keep(std::uintptr_t begin, std::size_t bytes, std::uintptr_t committed_end) noexcept {
    if constexpr (checks::caller) return false; // a later access must fault
    const std::uintptr_t touched_end = begin + touched_bytes;
    const platform::lock_guard lock(mutex_);
    if (count_ == max_count) {
        const auto is_other = [&](const range& each) { return each.bytes != bytes; };
        range* const other = std::find_if(ranges_, ranges_ + count_, is_other);
        if (other == ranges_ + count_) return false;
        unreserve_temp_range(other->begin, other->bytes);
        *other = ranges_[--count_];
    }
    if (committed_end > touched_end && !platform::seal(pointer_at(touched_end), committed_end - touched_end))
        return false;
    const std::size_t committed = std::min(committed_end, touched_end) - begin;
    ranges_[count_++] = {begin, bytes, committed, committed};
    return true;
}

std::size_t retained_temp_ranges::release_all() noexcept {
    const platform::lock_guard lock(mutex_);
    std::size_t released = 0;
    while (count_ != 0) {
        const range& last = ranges_[--count_];
        unreserve_temp_range(last.begin, last.bytes);
        released += last.touched;
    }
    return released;
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
TENURE_OWN_THREAD_LOCAL(std::size_t, rounds_of_end)

/// Every lock except the registry's, which must be held so that the list of records does not change.
template<class Visit>
void for_each_inner_lock(Visit&& visit) noexcept {
    for (thread_record* record = threads.first; record != nullptr; record = record->next) visit(record->job.mutex);
    visit(direct_mutex());
    visit(process_chunks.mutex());
    visit(retained_ranges.mutex());
}

/// Runs in the child of a fork. TempJob's blocks of the parent's other threads stay allocated and age: code in the
/// child that knows of them frees them. The Temp of those threads stays as it is, because their jobs may have passed
/// pointers into it to the thread that forked.
void leave_to_child() noexcept {
    for_each_inner_lock([](platform::mutex& lock) { lock.abandon(); });
    threads.mutex.abandon();
    if (threads.mutex.is_mine()) return; // a signal handler has forked that interrupted its holder, which goes on
    thread_record* const mine = this_thread().record;
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
    [](void*) noexcept {
        bool is_held = threads.mutex.is_mine();
        if (!is_held) for_each_inner_lock([&](const platform::mutex& lock) { is_held |= lock.is_mine(); });
        return is_held;
    },
};
constinit platform::fork_handler of_lifetimes{platform::fork_order::lifetimes, nullptr, steps_of_lifetimes};
TENURE_AT_LOAD(start_lifetimes) {
    of_lifetimes.enlist();
    retained_ranges.prepare();
}

constexpr std::size_t record_stride = align_up(sizeof(thread_record), cache_line_bytes);

/// Space for the process's first records, so that a program with few threads maps none.
struct alignas(cache_line_bytes) record_space {
    unsigned char bytes[record_stride];
};
constinit record_space first_spaces[8]{};
constinit std::size_t first_used = 0;

/// Space for one record, of those of ended threads or of a new page. Requires  the registry's lock.
void* space_for_record() noexcept {
    if (threads.unused == nullptr && first_used < std::size(first_spaces)) return &first_spaces[first_used++];
    if (threads.unused == nullptr) {
        const std::size_t bytes = platform::page_bytes();
        void* const page = platform::map(bytes, cache_line_bytes);
        if (page == nullptr) return nullptr;
        platform::add_leak_root(page, bytes); // records know chunks that come from malloc in passthrough
        for (std::size_t left = bytes / record_stride; left-- > 0;) {
            auto* const record = new (pointer_at(address_of(page) + left * record_stride)) thread_record;
            record->next = std::exchange(threads.unused, record);
        }
    }
    return std::exchange(threads.unused, threads.unused->next);
}

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
    this_thread().record = nullptr;
    this_thread().job = &no_job_front;
    this_thread().stacks = &no_temp_front;
    this_thread_tag().job_word = nullptr;
    this_thread_tag().count_second = nullptr;
    record.next = threads.unused;
    threads.unused = &record;
}

void end_of_thread() noexcept {
    if (++rounds_of_end() < platform::thread_end_rounds()) platform::at_thread_end(&end_of_thread);
    if (this_thread().record != nullptr) close_record(*this_thread().record);
}

/// An abandoned record of an earlier thread whose state was at the calling thread's address; nullptr if there is none.
thread_record* find_left_behind() noexcept {
    const platform::lock_guard lock(threads.mutex);
    return threads.of_threads.find(&this_thread());
}

void count_temp(std::uint16_t id) noexcept { count_tagged_temp(*this_thread().record, id); }

thread_record* make_record(bool temp_passthrough, bool temp_job_passthrough) noexcept {
    const platform::lock_guard lock(threads.mutex);
    void* const memory = space_for_record();
    if (memory == nullptr) return nullptr;
    auto* const record = new (memory) thread_record;
    record->own_stacks.first_record.passthrough = temp_passthrough;
    record->own_stacks.second_record.passthrough = temp_passthrough;
    record->job.passthrough = temp_job_passthrough;
    record->thread = &this_thread();
    push_front(threads.first, *record);
    threads.of_threads.add(*record);
    return record;
}

}

bool are_job_locks_free(platform::lock_patience& patience) noexcept {
    const platform::patient_lock lock(threads.mutex, patience);
    bool is_free = static_cast<bool>(lock);
    if (!is_free) return false;
    for_each_inner_lock([&](const platform::mutex& inner) { is_free = is_free && patience.sees_free(inner); });
    return is_free;
}

thread_record* record_of_this_thread() noexcept {
    if (this_thread().record != nullptr) return this_thread().record;
    const bool is_over = rounds_of_end() >= platform::thread_end_rounds();
    if (is_over) return nullptr;
    if (!platform::at_thread_end(&end_of_thread)) {
        if (!platform::has_end_slot(&end_of_thread))
            rounds_of_end() = platform::thread_end_rounds(); // do not ask again
        return nullptr;
    }
    // Before the lock: the first read of an option may report a bad value to a handler that allocates.
    const bool temp_passthrough = passthrough_enabled(part::temp);
    const bool temp_job_passthrough = passthrough_enabled(part::temp_job);
    if (this_thread().record != nullptr) return this_thread().record;
    if (thread_record* const left = find_left_behind(); left != nullptr) close_record(*left);
    thread_record* const record = make_record(temp_passthrough, temp_job_passthrough);
    if (record == nullptr) return nullptr;
    this_thread().record = record;
    this_thread().job = &record->job.front;
    this_thread().stacks = &record->own_stacks;
    this_thread_tag().temp_cursor = &this_thread().temp_cursor;
    this_thread_tag().tagged_from = &record->own_stacks.first_record.tagged_from;
    this_thread_tag().count_temp = &count_temp;
    this_thread_tag().job_word = &record->job.front.word; // the others are valid while this is set
    return record;
}

}

}
