// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The part of a thread's Temp and TempJob that slow paths and next_frame() use.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/lifetime/detail/chunk_cache.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/platform/by_thread.hpp>
#include <tenure/platform/mutex.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Chunks in the order in which they were filled.
struct chunk_queue {
    lifetime_chunk* first = nullptr;
    lifetime_chunk* last = nullptr;

    void push(lifetime_chunk* chunk) noexcept;
    /// Appends all chunks of another queue, which is empty afterwards. Cost      O(1).
    void append_all(chunk_queue& other) noexcept;
    lifetime_chunk* pop() noexcept;
};

// Ranges of Temp begin at multiples of 64 KiB, and the OS page in front of them is readable. A block of Temp that is
// freed as TempJob by mistake then has what TempJob reads of it, the word in front of the block and its state byte, in
// readable memory, and the free is reported instead of a crash.
constexpr std::size_t temp_range_alignment = job_chunk_alignment;
constexpr std::size_t temp_lead_bytes = temp_range_alignment; ///< addresses in front of each range

/// Ranges of `bytes`, each behind its lead. Returns   the start of the first range; nullptr when out of memory.
[[nodiscard]] std::uintptr_t reserve_temp_ranges(std::size_t count, std::size_t bytes) noexcept;
void unreserve_temp_range(std::uintptr_t begin, std::size_t bytes) noexcept;
/// Commits memory of a range, and the page in front of it together with its start.
[[nodiscard]] bool commit_temp_range(std::uintptr_t begin, std::uintptr_t from, std::uintptr_t to) noexcept;

/// In checked builds: when the scopes of a stack ended, so that a container can tell whether its memory has.
struct scope_ends {
    static constexpr std::size_t max_depth = checks::caller ? 32 : 1; ///< of deeper scopes nothing is known
    std::uint64_t count = 0;                                          ///< of ends
    /// By depth: the number of the last end of such a scope. Depth 0: when the stack was last emptied.
    std::uint64_t of_depth[max_depth]{};
    temp_end last_emptied = temp_end::none;
    temp_end last = temp_end::none;
};

[[nodiscard]] std::uint32_t next_stack_key() noexcept;
[[nodiscard]] inline std::uint32_t new_stack_key() noexcept { return checks::caller ? next_stack_key() : 0; }

/// One stack of Temp. Only the thread that uses it touches it.
struct temp_record {
    std::uintptr_t begin = 0;         ///< of the range; zero before the first allocation
    std::uintptr_t committed_end = 0; ///< a multiple of the OS page
    std::uintptr_t budget_end = 0;    ///< exact end of the budget, in bytes
    std::size_t reserved_bytes = 0;
    lifetime_chunk* newest_chunk = nullptr; ///< newest overflow chunk
    std::uint64_t last_chunk = 0;           ///< the largest chunk number so far
    std::uint32_t open_scopes = 0;          ///< counted in checked builds
    std::uint32_t key = new_stack_key();    ///< in checked builds: tells the stack from all others; never zero
    scope_ends ends;
    std::uintptr_t tagged_from = 0; ///< under a tag: bytes after this are not counted yet
    std::size_t overflow_now_bytes = 0;
    std::size_t wanted_budget_bytes = 0; ///< zero: the option's
    bool passthrough = false;            ///< to malloc, for the record's whole life
    temp_stats seen;
};

/// Both stacks of a thread, or of a temp_state.
struct temp_stacks : temp_front {
    temp_record first_record;
    temp_record second_record;
    const void* user = nullptr; ///< a temp_state's, in checked builds: the thread that has switched to it
};

/// Temp ranges for the next threads: those of ended threads, whose first pages are touched, so that a thread's first
/// blocks cause no page fault; and a few that are reserved when the program starts, so that the first threads wait for
/// no system call either.
/// Threads   any; one lock per call. The registry's lock may be held.
class retained_temp_ranges {
public:
    static constexpr std::size_t max_count = 4;
    static constexpr std::size_t touched_bytes = 64 * 1024; ///< at most, of each

    /// Reserves ranges of the built-in budget, once, when the program starts. Touches the first pages of one, for the
    /// main thread. Does nothing in checked builds.
    /// Cost      a reservation, two commits, and two page faults, together about 12 us; and up to two system calls that
    ///           return both ends of the reservation. 8 MiB of addresses, and 8 KiB of memory.
    void prepare() noexcept;

    /// Returns   a range of exactly `bytes`, of which the first `committed` are committed; zero if there is none.
    [[nodiscard]] std::uintptr_t take(std::size_t bytes, std::size_t& committed) noexcept;
    /// Decommits what lies past touched_bytes. A range of another size, from before a change of the budget, gives way.
    /// Returns   false if the range is not kept.
    [[nodiscard]] bool keep(std::uintptr_t begin, std::size_t bytes, std::uintptr_t committed_end) noexcept;
    /// Returns   the bytes released.
    std::size_t release_all() noexcept;

    /// For fork handlers.
    [[nodiscard]] platform::mutex& mutex() noexcept { return mutex_; }

private:
    struct range {
        std::uintptr_t begin;
        std::size_t bytes;
        std::size_t committed;
        std::size_t touched; ///< at most: what releasing it returns
    };
    platform::mutex mutex_;
    range ranges_[max_count]{};
    std::size_t count_ = 0;
};
extern constinit retained_temp_ranges retained_ranges;

/// TempJob of one thread. The mutex keeps chunks in place while next_frame() walks them. The owner takes it to change
/// chunks, never to allocate or free within one.
struct job_record {
    platform::mutex mutex;
    lifetime_chunk* current = nullptr;
    chunk_queue closed;
    std::uint64_t frame = 0; ///< the frame in the front's word
    job_front front;
    bool passthrough = false; ///< to malloc, for the record's whole life
};

struct thread_record {
    thread_record* next = nullptr;
    thread_record* previous = nullptr;
    const void* thread = nullptr; ///< address of its thread's local state: unique among live threads
    thread_record* next_by_thread = nullptr;
    thread_record* previous_by_thread = nullptr;
    temp_stacks own_stacks;
    temp_record* scratch = &own_stacks.first_record; ///< the stack whose position is in the thread-local words
    job_record job;

    [[nodiscard]] temp_stacks& stacks() const noexcept { return *static_cast<temp_stacks*>(this_thread().stacks); }
};

/// Exchanges the position in the thread-local words with another one.
void exchange_position(temp_position& with) noexcept;

/// Note that a scope has ended, before it is counted as closed, and that the stack is emptied; for temp_origin.
void note_scope_end(temp_record& stack, std::uint32_t depth) noexcept;
void note_emptied(temp_record& stack, temp_end what) noexcept;
/// Whether a block of this size is allocated in the stack whose position is in the thread-local words; under
/// passthrough nothing is known, and the answer is true.
[[nodiscard]] bool is_block_of_temp(const void* block, std::size_t bytes) noexcept;
/// Whether the address is in allocated memory of that stack; true under passthrough.
[[nodiscard]] bool is_inside_temp(const void* block) noexcept;
/// Whether the address is in the range of one of the two stacks that the calling thread uses; not in a chunk.
[[nodiscard]] bool is_in_range_of_temp(const void* block) noexcept;
/// Empties both stacks that the calling thread uses.
void empty_temp(temp_end what) noexcept;

/// Makes Temp's functions work on the calling thread's second stack while it exists.
/// Requires  the record is the calling thread's.
class on_second_stack {
public:
    explicit on_second_stack(thread_record& record) noexcept;
    ~on_second_stack();
    on_second_stack(const on_second_stack&) = delete;
    on_second_stack& operator=(const on_second_stack&) = delete;

private:
    thread_record& record_;
};

/// Whether the stack holds memory, and so its end has something to do.
[[nodiscard]] inline bool is_in_use(const temp_record& stack) noexcept {
    return stack.begin != 0 || stack.newest_chunk != nullptr;
}

/// Returns a stack's memory. Requires  its position is in the thread-local words.
void release_stack(temp_record& scratch) noexcept;
/// Returns the memory of both. Requires  no thread uses them.
void release_stacks(temp_stacks& stacks) noexcept;

/// All threads that have a record, and the chunks that ended threads have abandoned.
struct thread_registry {
    platform::mutex mutex; ///< taken before any record's mutex
    thread_record* first = nullptr;
    platform::by_thread<thread_record> of_threads; ///< the same records, by thread
    thread_record* unused = nullptr;               ///< records of ended threads, for reuse
    /// In the child of a fork: records of the parent's other threads, with their chunks. A fork handler must not write
    /// to chunks: their source may have kept them from the child, or may share them with it.
    thread_record* inherited = nullptr;
    chunk_queue orphans;

    /// Turns the chunks of `inherited` into orphans. Call it before each walk. Requires  the mutex.
    void adopt_inherited() noexcept;
};
extern constinit thread_registry threads;

/// Whether the registry's lock and those that are taken under it become free in that time: for a walk over all blocks
/// at the end of the program.
[[nodiscard]] bool are_job_locks_free(platform::lock_patience& patience) noexcept;

/// The calling thread's record, created by its first call. Returns   nullptr when the system has no memory or no
/// thread-end slot for it, and in destructors that run after the last round of the thread's end.
[[nodiscard]] thread_record* record_of_this_thread() noexcept;

/// Counts what Temp allocated under the tag `id`. Call it when the tag changes and before the cursor moves back.
void count_tagged_temp(thread_record& record, std::uint16_t id) noexcept;
/// The same for the calling thread's second stack alone, if it is in use. Requires  the thread has a record.
void count_second_stack(std::uint16_t id) noexcept;
/// The same for both stacks. Requires  the record is the calling thread's.
void count_tagged_stacks(thread_record& record, std::uint16_t id) noexcept;
[[nodiscard]] std::uint64_t tagged_temp_bytes(std::uint16_t id) noexcept;

/// What each part does when a thread ends.
void release_temp(thread_record& record) noexcept;
void retire_temp_job(thread_record& record) noexcept;

/// Saves the position of the stacks that the calling thread uses, and continues with others.
/// Requires  the record is the calling thread's, and no tag is set.
inline void switch_untagged_stacks(thread_record& record, temp_stacks& next) noexcept {
    temp_stacks& now = record.stacks();
    now.first.cursor = this_thread().temp_cursor;
    now.first.limit = this_thread().temp_limit;
    now.first.chunk = this_thread().temp_chunk;
    now.first.floor = this_thread().temp_floor;
    this_thread().temp_cursor = next.first.cursor;
    this_thread().temp_limit = next.first.limit;
    this_thread().temp_chunk = next.first.chunk;
    this_thread().temp_floor = next.first.floor;
    this_thread().stacks = &next;
    record.scratch = &next.first_record;
    this_thread_tag().tagged_from = &next.first_record.tagged_from;
    this_thread_tag().count_second = &count_second_stack; // the new stacks may have a second one
}

/// The same under any tag.
inline void switch_stacks(thread_record& record, temp_stacks& next) noexcept {
    if (&record.stacks() == &next) return;
    if (this_thread_tag().id != 0) [[unlikely]]
        count_tagged_stacks(record, this_thread_tag().id);
    switch_untagged_stacks(record, next);
    if (this_thread_tag().id != 0) [[unlikely]]
        count_tagged_stacks(record, 0); // what was allocated before is not this tag's
}

/// The word that TempJob combines with a size, for the thread's frame and tag.
[[nodiscard]] std::uint64_t job_word_for(std::uint64_t frame, std::uint16_t tag_id) noexcept;

}
