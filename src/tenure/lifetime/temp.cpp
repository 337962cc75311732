// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/temp.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <string_view>

#include <tenure/base/check.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/hooks.hpp>
#include <tenure/base/host.hpp>
#include <tenure/base/no_alloc.hpp>
#include <tenure/base/options.hpp>
#include <tenure/lifetime/detail/chunk_cache.hpp>
#include <tenure/lifetime/detail/temp_guards.hpp>
#include <tenure/lifetime/detail/temp_origin.hpp>
#include <tenure/lifetime/detail/thread_record.hpp>
#include <tenure/platform/memory.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI {

static_assert(temp::guard_bytes == detail::temp_head_bytes + detail::tail_guard_bytes);

using detail::lifetime_chunk;
using detail::temp_record;
using detail::this_thread;
using detail::thread_record;

namespace {

constexpr std::size_t first_commit_bytes = 64 * 1024;

// Counters and flags: relaxed, nothing else is read by them.
std::atomic<std::uint64_t> tagged_bytes[detail::max_tags];
std::atomic<bool> told_of_frames{false};
std::atomic<bool> told_of_refusal{false};
std::atomic<bool> was_ever_reset{false};

std::size_t budget_of(const temp_record& scratch) noexcept {
    return scratch.wanted_budget_bytes != 0 ? scratch.wanted_budget_bytes : option_value(option::temp_budget_bytes);
}

/// Reserves the thread's range. Without one, Temp uses overflow chunks only.
void open_range(temp_record& scratch) noexcept {
    const std::size_t budget = budget_of(scratch);
    const std::size_t bytes = align_up(budget, platform::page_bytes());
    std::size_t committed = 0;
    std::uintptr_t range = detail::retained_ranges.take(bytes, committed);
    if (range == 0) range = detail::reserve_temp_ranges(1, bytes);
    if (range == 0) return;
    platform::add_leak_root(pointer_at(range), bytes);
    scratch.seen.budget_bytes = budget;
    scratch.reserved_bytes = bytes;
    scratch.begin = range;
    scratch.committed_end = scratch.begin + committed;
    scratch.budget_end = scratch.begin + align_down(budget, temp::rounding_bytes);
    this_thread().temp_cursor = scratch.tagged_from = scratch.begin;
    this_thread().temp_limit = std::min(scratch.committed_end, scratch.budget_end);
}

/// Commits up to `end`, and at least doubles what is committed, so that growing costs one system call per doubling.
bool commit_to(temp_record& scratch, std::uintptr_t end) noexcept {
    const std::size_t page = platform::page_bytes();
    const std::uintptr_t reserved_end = scratch.begin + scratch.reserved_bytes;
    const std::uintptr_t before = scratch.committed_end;
    const std::uintptr_t wanted = before + std::max(first_commit_bytes, before - scratch.begin);
    const std::uintptr_t target = std::min(std::max(align_up(end, page), wanted), reserved_end);
    if (!detail::commit_temp_range(scratch.begin, before, target)) return false;
    if constexpr (checks::caller) platform::poison(pointer_at(before), target - before);
    scratch.committed_end = target;
    this_thread().temp_limit = std::min(target, scratch.budget_end);
    return true;
}

/// Whether a block that did not fit would have fitted in the budget, had the system provided its memory.
bool is_refused(const temp_record& scratch, std::size_t size, std::size_t alignment) noexcept {
    if (scratch.begin == 0) return size + alignment <= budget_of(scratch); // not even its addresses
    return scratch.newest_chunk == nullptr &&
           align_up(this_thread().temp_cursor, alignment) + size <= scratch.budget_end;
}

void tell_of_refusal(std::size_t block_bytes) noexcept {
    if (told_of_refusal.exchange(true)) return;
    report_text text;
    text.text("The system refused memory for Temp's range: ").number(block_bytes);
    text.text(
        " bytes within the budget come from a chunk instead. Look at the limits on the process's address space and "
        "memory (ulimit -v, ulimit -d, its cgroup).");
    report(report_kind::notice, text.view());
}

/// Reports once: a program that never empties Temp overflows forever, and would only notice that it is slow.
void tell_of_frames(std::size_t budget_bytes, std::size_t block_bytes) noexcept {
    if (frame_clock::now() != 0 || was_ever_reset.load(std::memory_order_relaxed)) return;
    if (told_of_frames.exchange(true)) return;
    report_text text;
    text.text("Temp has overflowed its budget and no frame has ended yet: ").number(block_bytes);
    text.text(" bytes do not fit in the rest of a budget of ").number(budget_bytes).text(". ");
    text.text(block_bytes > budget_bytes ? "Raise TENURE_TEMP_BUDGET. "
                                         : "Raise TENURE_TEMP_BUDGET, or empty Temp earlier with a temp_scope. ");
    text.text("If nothing does yet, call next_frame() once a frame, or reset_temp() once a job on worker threads.");
    report(report_kind::notice, text.view());
}

lifetime_chunk* acquire_from_malloc(std::size_t bytes) noexcept {
    void* const memory = host::aligned_from_malloc(align_up(bytes, cache_line_bytes), cache_line_bytes);
    if (memory == nullptr) return nullptr;
    detail::note_block_begin(memory, bytes);
    auto* const chunk = new (memory) lifetime_chunk;
    chunk->bytes = bytes;
    return chunk;
}

/// Continues in a chunk, on top of the chunk or range used so far.
void enter(temp_record& scratch, lifetime_chunk* chunk) noexcept {
    chunk->next = scratch.newest_chunk;
    chunk->cursor_below = this_thread().temp_cursor;
    scratch.newest_chunk = chunk;
    chunk->number = this_thread().temp_chunk = ++scratch.last_chunk;
    this_thread().temp_floor = this_thread().temp_cursor = scratch.tagged_from = chunk->begin();
    this_thread().temp_limit = chunk->limit();
    scratch.overflow_now_bytes += chunk->bytes;
    scratch.seen.overflow_peak_bytes = std::max(scratch.seen.overflow_peak_bytes, scratch.overflow_now_bytes);
    if constexpr (checks::caller) platform::poison(pointer_at(chunk->begin()), chunk->limit() - chunk->begin());
}

/// Leaves the newest chunk and releases it.
void leave(temp_record& scratch) noexcept {
    lifetime_chunk* const chunk = scratch.newest_chunk;
    if (checks::caller && chunk->source != nullptr)
        detail::check_temp_blocks(chunk->begin(), this_thread().temp_cursor);
    scratch.newest_chunk = chunk->next;
    this_thread().temp_chunk = scratch.newest_chunk != nullptr ? scratch.newest_chunk->number : 0;
    this_thread().temp_cursor = scratch.tagged_from = chunk->cursor_below;
    const bool in_chunk = scratch.newest_chunk != nullptr;
    this_thread().temp_floor = in_chunk ? scratch.newest_chunk->begin() : 0;
    this_thread().temp_limit =
        in_chunk ? scratch.newest_chunk->limit() : std::min(scratch.committed_end, scratch.budget_end);
    scratch.overflow_now_bytes -= chunk->bytes;
    if (chunk->source != nullptr) return detail::process_chunks.release(chunk);
    this_thread().temp_cursor = this_thread().temp_limit = this_thread().temp_floor = 0;
    if constexpr (checks::caller) platform::unpoison(chunk, chunk->bytes);
    detail::note_block_end(chunk);
    host::free_aligned(chunk);
}

void set_cursor(std::uintptr_t cursor) noexcept {
    if constexpr (checks::caller) {
        if (cursor < this_thread().temp_cursor)
            platform::poison_dropped(pointer_at(cursor), this_thread().temp_cursor - cursor);
    }
    this_thread().temp_cursor = cursor;
}

/// Whether the current chunk or range has room up to `end`; commits as needed.
bool has_room(temp_record& scratch, std::uintptr_t end) noexcept {
    if (end <= this_thread().temp_limit) return true;
    const bool in_range = scratch.newest_chunk == nullptr && end <= scratch.budget_end;
    return in_range && commit_to(scratch, end);
}

/// Allocates at the cursor of the current chunk or range; nullptr when it is full.
void* bump(temp_record& scratch, std::size_t bytes, std::size_t alignment) noexcept {
    const std::uintptr_t cursor = this_thread().temp_cursor;
    if (cursor == 0) return nullptr;
    const std::uintptr_t block = align_up(cursor + detail::temp_head_bytes, std::max(alignment, default_alignment));
    if (block > max_object_bytes) return nullptr;
    check_invariant(this_thread().temp_chunk == (scratch.newest_chunk != nullptr ? scratch.newest_chunk->number : 0),
                    "Temp: the current chunk is not the newest one", &scratch);
    const std::uintptr_t end = detail::temp_block_end(block, bytes);
    if (!has_room(scratch, end)) return nullptr;
    this_thread().temp_cursor = end;
    if constexpr (checks::caller) {
        detail::guard_temp_gap(cursor, block - detail::temp_head_bytes);
        detail::guard_temp_block(block, bytes);
    }
    return pointer_at(block);
}

/// Under passthrough: the only block of a chunk of malloc, without guards, which the tools of malloc have.
void* only_block(std::size_t size, std::size_t alignment) noexcept {
    const std::uintptr_t block = align_up(this_thread().temp_cursor, alignment);
    this_thread().temp_cursor = block + size;
    if constexpr (checks::caller) platform::unpoison(pointer_at(block), size);
    return pointer_at(block);
}

}

void* temp::allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
    [[maybe_unused]] const detail::caller_allocation allocation("of Temp", bytes);
    constexpr std::size_t most = max_object_bytes / 4;
    if (!is_power_of_two(alignment)) {
        if constexpr (checks::caller) report_alignment("Temp", alignment);
        return nullptr;
    }
    if (bytes > most || alignment > most) return nullptr;
    thread_record* record = this_thread().record;
    if (record == nullptr) [[unlikely]]
        record = detail::record_of_this_thread();
    if (record == nullptr) return nullptr;
    temp_record& scratch = *record->scratch;
    const bool passthrough = scratch.passthrough;
    const std::size_t asked = bytes + (bytes == 0);
    const std::size_t size = rounded(bytes);
    if (!passthrough) {
        if (scratch.begin == 0 && scratch.newest_chunk == nullptr) open_range(scratch);
        if (void* const block = bump(scratch, asked, alignment); block != nullptr) return block;
    }

    const bool refused =
        !passthrough && is_refused(scratch, detail::temp_head_bytes + size + detail::tail_guard_bytes, alignment);
    const std::size_t gap = alignment > cache_line_bytes || checks::caller ? alignment : 0;
    const std::size_t lead = passthrough ? sizeof(lifetime_chunk) : detail::chunk_lead_bytes;
    const std::size_t needed = lead + gap + detail::temp_head_bytes + size + detail::tail_guard_bytes;
    lifetime_chunk* const chunk =
        passthrough ? acquire_from_malloc(needed) : detail::process_chunks.acquire(needed, detail::at_limit::exceed);
    if (chunk == nullptr) {
        detail::process_chunks.report_misaligned();
        return nullptr;
    }
    detail::count_tagged_temp(*record, detail::this_thread_tag().id);
    enter(scratch, chunk);
    void* const block = passthrough ? only_block(size, alignment) : bump(scratch, asked, alignment);
    if (passthrough) {
        detail::count_tagged_temp(*record, detail::this_thread_tag().id);
        this_thread().temp_cursor = this_thread().temp_limit = this_thread().temp_floor = scratch.tagged_from = 0;
        return block;
    }
    ++scratch.seen.overflow_count;
    scratch.seen.overflow_bytes += chunk->bytes;
    refused ? tell_of_refusal(bytes) : tell_of_frames(scratch.seen.budget_bytes, bytes);
    return block;
}

void temp::leave_chunk() noexcept {
    thread_record& record = *this_thread().record;
    detail::count_tagged_temp(record, detail::this_thread_tag().id);
    leave(*record.scratch);
}

namespace {

/// Whether the address is inside allocated memory: before the cursor of its chunk or range.
bool is_alive(const temp_record& scratch, const void* block) noexcept {
    std::uintptr_t cursor = this_thread().temp_cursor;
    for (const lifetime_chunk* chunk = scratch.newest_chunk; chunk != nullptr; chunk = chunk->next) {
        if (chunk->contains(block)) return address_of(block) < cursor;
        cursor = chunk->cursor_below;
    }
    return address_of(block) >= scratch.begin && address_of(block) < cursor;
}

}

bool detail::is_block_of_temp(const void* block, std::size_t bytes) noexcept {
    const temp_record& scratch = *this_thread().record->scratch;
    if (scratch.passthrough) return true;
    std::size_t allocated = 0;
    return is_alive(scratch, block) &&
           detail::look_at_temp_block(address_of(block), allocated) == detail::temp_finding::whole &&
           allocated == bytes + (bytes == 0);
}

bool detail::is_inside_temp(const void* block) noexcept {
    const temp_record& scratch = *this_thread().record->scratch;
    return scratch.passthrough || is_alive(scratch, block);
}

namespace {

/// Whether the thread uses a temp_state, and the address is in its own Temp.
bool is_in_own_temp(thread_record& record, const void* block) noexcept {
    detail::temp_stacks& own = record.own_stacks;
    if (&record.stacks() == &own) return false;
    const auto look = [&](detail::temp_position& position, const temp_record& stack) {
        detail::exchange_position(position);
        const bool found = is_alive(stack, block);
        detail::exchange_position(position);
        return found;
    };
    return look(own.first, own.first_record) || look(own.second, own.second_record);
}

/// What ended last is the likelier cause of a late free.
std::string_view cause_of_late_free(detail::temp_end last) noexcept {
    switch (last) {
    case detail::temp_end::scope:
        return " A temp_scope ended last on this thread: a container that got memory inside it and lives longer frees "
               "it too late.";
    case detail::temp_end::frame:
        return " next_frame() emptied Temp last: a container that outlives its frame frees its memory too late.";
    case detail::temp_end::reset:
        return " reset_temp() emptied Temp last: a container that lives longer frees its memory too late.";
    case detail::temp_end::none: break;
    }
    return "";
}

TENURE_COLD void report_late_free(thread_record* record, const void* block) noexcept {
    report_text text;
    if (record != nullptr && is_in_own_temp(*record, block)) {
        text.text("a block of the thread's own Temp was freed while a temp_state is current: ").address(block);
        text.text(". Switch back first: temp_state::switch_to(nullptr), or the end of a temp_state_scope.");
        return report(report_kind::misuse, text.view());
    }
    text.text("a pointer freed as Temp is not in this thread's Temp, or was freed before: ").address(block);
    text.text(". Free Temp memory on the thread that allocated it, before its scope, reset or frame ends, or not at "
              "all.");
    if (record != nullptr) text.text(cause_of_late_free(record->scratch->ends.last));
    if (detail::are_there_states()) text.text(" A block of a temp_state is freed while that state is current.");
    report(report_kind::misuse, text.view());
}

}

bool temp::deallocate_checked(void* block) noexcept {
    std::size_t bytes = 0;
    return look_before_free(block, bytes);
}

bool temp::look_before_free(void* block, std::size_t& bytes) noexcept {
    thread_record* const record = this_thread().record;
    const bool is_fine =
        block == nullptr || (record != nullptr && (record->scratch->passthrough || is_alive(*record->scratch, block)));
    if (!is_fine) {
        report_late_free(record, block);
        return false;
    }
    if (block == nullptr || record->scratch->passthrough) return true;
    switch (detail::look_at_temp_block(address_of(block), bytes)) {
    case detail::temp_finding::whole: return true;
    case detail::temp_finding::overrun: detail::report_temp_overrun(address_of(block), bytes); return false;
    case detail::temp_finding::no_block: break;
    }
    report_text text;
    text.text("a pointer freed as Temp is not the start of a block, or memory in front of it was overwritten: ");
    text.address(block).text(". Free only what allocate() returned, once. Look for a write in front of this block; "
                             "AddressSanitizer stops the program at the write.");
    report(report_kind::misuse, text.text(cause_of_late_free(record->scratch->ends.last)).view());
    return false;
}

void temp::rewind_if_size(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept {
    std::size_t allocated = 0;
    if (!look_before_free(block, allocated) || block == nullptr || this_thread().record->scratch->passthrough) return;
    if (allocated < least_bytes + (least_bytes == 0) || allocated > max_bytes + (max_bytes == 0)) {
        report_text text;
        text.text("a Temp block of ").number(allocated).text(" bytes was freed as one of ").number(least_bytes);
        text.text(": ").address(block).text(". Free it with the size that it was allocated with.");
        text.text(cause_of_late_free(this_thread().record->scratch->ends.last));
        return report(report_kind::misuse, text.view());
    }
    if (detail::temp_block_end(address_of(block), allocated) != this_thread().temp_cursor) return;
    set_cursor(address_of(block) - detail::temp_head_bytes);
    if (this_thread().temp_cursor == this_thread().temp_floor) leave_chunk();
}

std::uint64_t temp_scope::open() noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr) return 0;
    temp_record& scratch = *record->scratch;
    if constexpr (checks::caller) {
        const std::uintptr_t cursor = this_thread().temp_cursor;
        if (cursor != 0 && has_room(scratch, cursor + sizeof(detail::temp_head))) {
            this_thread().temp_cursor = cursor + sizeof(detail::temp_head);
            detail::guard_temp_gap(cursor, this_thread().temp_cursor);
        }
    }
    return std::uint64_t{scratch.key} << 32 | ++scratch.open_scopes;
}

/// Whether this scope is the newest open one. It counts as closed afterwards in either case.
bool temp_scope::close(std::uint64_t opened) noexcept {
    if (opened == 0) return true;
    thread_record* const record = this_thread().record;
    if (record == nullptr || opened >> 32 != record->scratch->key) {
        detail::report_scope_elsewhere(static_cast<std::uint32_t>(opened >> 32));
        return false;
    }
    const auto depth = static_cast<std::uint32_t>(opened);
    std::uint32_t& open_scopes = record->scratch->open_scopes;
    const bool is_newest = open_scopes == depth;
    if (!is_newest)
        report_misuse("temp_scopes ended out of order", nullptr, "End scopes in the reverse order of their beginning.");
    if (open_scopes < depth) return false;
    detail::note_scope_end(*record->scratch, depth);
    open_scopes = depth - 1;
    return is_newest;
}

void temp_scope::rewind_slow(std::uintptr_t cursor, std::uint64_t chunk) noexcept {
    thread_record* const record = this_thread().record;
    if (record == nullptr) return;
    temp_record& scratch = *record->scratch;
    detail::count_tagged_temp(*record, detail::this_thread_tag().id);
    while (scratch.newest_chunk != nullptr && scratch.newest_chunk->number > chunk) leave(scratch);
    // A free inside the scope may have left the chunk in which the scope began. What the scope allocated below that
    // chunk then stays until the enclosing scope ends.
    if (this_thread().temp_chunk != chunk) return;
    // A scope that began before the thread's first allocation ends at the start of its range.
    if (cursor == 0) cursor = scratch.newest_chunk == nullptr ? scratch.begin : 0;
    const bool passthrough = scratch.newest_chunk != nullptr && scratch.newest_chunk->source == nullptr;
    if (passthrough || cursor > this_thread().temp_cursor) return;
    if constexpr (checks::caller) detail::check_temp_blocks(cursor, this_thread().temp_cursor);
    set_cursor(cursor);
    scratch.tagged_from = cursor;
}

namespace {

/// Empties the stack whose position is in the thread-local words.
void empty(thread_record& record, detail::temp_end what) noexcept {
    temp_record& scratch = *record.scratch;
    detail::note_emptied(scratch, what);
    if constexpr (checks::caller) {
        if (scratch.open_scopes != 0) {
            report_misuse("Temp was emptied inside a temp_scope", nullptr,
                          "Call reset_temp() and next_frame() outside every temp_scope.");
        }
    }
    if (detail::this_thread_tag().id != 0) detail::count_tagged_temp(record, detail::this_thread_tag().id);
    while (scratch.newest_chunk != nullptr) leave(scratch);
    if (scratch.begin == 0) return;
    if constexpr (checks::caller) detail::check_temp_blocks(scratch.begin, this_thread().temp_cursor);
    set_cursor(scratch.begin);
    scratch.tagged_from = scratch.begin;
}

}

void temp::reset() noexcept { detail::empty_temp(detail::temp_end::reset); }

void detail::empty_temp(temp_end what) noexcept {
    thread_record* const record = this_thread().record;
    if (record == nullptr) return;
    if constexpr (checks::structures) check_invariant(temp::valid(), "Temp", record);
    if (!was_ever_reset.load(std::memory_order_relaxed)) was_ever_reset.store(true, std::memory_order_relaxed);
    empty(*record, what);
    if (is_in_use(record->stacks().second_record)) {
        const detail::on_second_stack second(*record);
        empty(*record, what);
    }
}

bool temp::warm_up(std::size_t bytes) noexcept {
    thread_record* const record = detail::record_of_this_thread();
    if (record == nullptr) return false;
    if (record->scratch->passthrough) return true;
    temp_record& scratch = *record->scratch;
    if (scratch.begin == 0 && scratch.newest_chunk == nullptr) open_range(scratch);
    if (scratch.begin == 0 || scratch.newest_chunk != nullptr) return false;
    const std::uintptr_t cursor = this_thread().temp_cursor;
    const std::uintptr_t end = cursor + std::min(bytes, scratch.budget_end - cursor);
    if (end > scratch.committed_end && !commit_to(scratch, end)) return false;
    return platform::prefault(cursor, end);
}

std::size_t temp::trim() noexcept {
    thread_record* const record = this_thread().record;
    if (record == nullptr || record->scratch->begin == 0) return 0;
    temp_record& scratch = *record->scratch;
    const lifetime_chunk* oldest = scratch.newest_chunk;
    while (oldest != nullptr && oldest->next != nullptr) oldest = oldest->next;
    const std::uintptr_t cursor = oldest != nullptr ? oldest->cursor_below : this_thread().temp_cursor;
    const std::uintptr_t first = align_up(cursor, platform::page_bytes());
    if (first >= scratch.committed_end) return 0;
    const std::size_t bytes = scratch.committed_end - first;
    if (!platform::decommit(pointer_at(first), bytes)) return 0;
    if constexpr (checks::caller) platform::unpoison(pointer_at(first), bytes);
    // The cursor commits these pages again when it reaches them, so the next trim knows what was touched.
    scratch.committed_end = first;
    if (scratch.newest_chunk == nullptr) this_thread().temp_limit = std::min(first, scratch.budget_end);
    return bytes;
}

bool temp::owns(const void* pointer) noexcept {
    const thread_record* const record = this_thread().record;
    if (record == nullptr) return false;
    const temp_record& scratch = *record->scratch;
    for (const lifetime_chunk* chunk = scratch.newest_chunk; chunk != nullptr; chunk = chunk->next) {
        if (chunk->contains(pointer)) return true;
    }
    return address_of(pointer) - scratch.begin < scratch.committed_end - scratch.begin;
}

bool temp::valid() noexcept {
    const thread_record* const record = this_thread().record;
    if (record == nullptr) return this_thread().temp_cursor == 0 && this_thread().temp_limit == 0;
    const temp_record& scratch = *record->scratch;
    std::uintptr_t cursor = this_thread().temp_cursor;
    std::size_t overflow_bytes = 0;
    const std::uint64_t newest = scratch.newest_chunk != nullptr ? scratch.newest_chunk->number : 0;
    if (this_thread().temp_chunk != newest || cursor > this_thread().temp_limit) return false;
    for (const lifetime_chunk* chunk = scratch.newest_chunk; chunk != nullptr; chunk = chunk->next) {
        const bool in_chunk = cursor >= chunk->begin() && cursor <= chunk->limit();
        if (chunk->source != nullptr && !in_chunk) return false;
        cursor = chunk->cursor_below;
        overflow_bytes += chunk->bytes;
    }
    if (overflow_bytes != scratch.overflow_now_bytes || scratch.committed_end < scratch.begin) return false;
    return scratch.passthrough || (cursor >= scratch.begin && cursor <= scratch.committed_end);
}

bool detail::is_in_range_of_temp(const void* block) noexcept {
    if (this_thread().record == nullptr) return false;
    const temp_stacks& stacks = this_thread().record->stacks();
    const auto is_in = [block](const temp_record& stack) {
        return address_of(block) - stack.begin < stack.committed_end - stack.begin;
    };
    return is_in(stacks.first_record) || is_in(stacks.second_record);
}

temp_stats temp::stats() noexcept {
    const thread_record* const record = this_thread().record;
    if (record == nullptr) return {};
    const temp_record& scratch = *record->scratch;
    temp_stats answer = scratch.seen;
    answer.committed_bytes = scratch.committed_end - scratch.begin;
    std::uintptr_t cursor = this_thread().temp_cursor;
    for (const lifetime_chunk* chunk = scratch.newest_chunk; chunk != nullptr; chunk = chunk->next) {
        answer.used_bytes += chunk->source == nullptr ? chunk->limit() - chunk->begin() : cursor - chunk->begin();
        cursor = chunk->cursor_below;
    }
    if (scratch.begin != 0) answer.used_bytes += cursor - scratch.begin;
    return answer;
}

namespace {

void count_tagged(temp_record& stack, std::uintptr_t cursor, std::uint16_t id) noexcept {
    std::uintptr_t& from = stack.tagged_from;
    if (id != 0 && id < detail::max_tags && cursor > from)
        tagged_bytes[id].fetch_add(cursor - from, std::memory_order_relaxed);
    from = cursor;
}

}

void detail::count_tagged_temp(thread_record& record, std::uint16_t id) noexcept {
    count_tagged(*record.scratch, this_thread().temp_cursor, id);
}

void detail::count_second_stack(std::uint16_t id) noexcept {
    temp_stacks& stacks = this_thread().record->stacks();
    if (is_in_use(stacks.second_record)) count_tagged(stacks.second_record, stacks.second.cursor, id);
}

void detail::count_tagged_stacks(thread_record& record, std::uint16_t id) noexcept {
    count_tagged(*record.scratch, this_thread().temp_cursor, id);
    count_second_stack(id);
}

std::uint64_t detail::tagged_temp_bytes(std::uint16_t id) noexcept {
    return id < max_tags ? tagged_bytes[id].load(std::memory_order_relaxed) : 0;
}

void detail::release_stack(temp_record& scratch) noexcept {
    while (scratch.newest_chunk != nullptr) leave(scratch);
    if (scratch.begin != 0) {
        if constexpr (checks::caller) detail::check_temp_blocks(scratch.begin, this_thread().temp_cursor);
        if constexpr (checks::caller)
            platform::unpoison(pointer_at(scratch.begin), scratch.committed_end - scratch.begin);
        platform::remove_leak_root(pointer_at(scratch.begin), scratch.reserved_bytes);
        if (!retained_ranges.keep(scratch.begin, scratch.reserved_bytes, scratch.committed_end))
            detail::unreserve_temp_range(scratch.begin, scratch.reserved_bytes);
    }
    scratch.begin = scratch.committed_end = scratch.budget_end = scratch.tagged_from = 0;
    this_thread().temp_cursor = this_thread().temp_limit = this_thread().temp_floor = 0;
    this_thread().temp_chunk = 0;
}

}
