// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/lifetime/detail/job_guards.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/check.hpp>
#include <tenure/base/host.hpp>
#include <tenure/engine/tail_guard.hpp>
#include <tenure/lifetime/detail/direct_blocks.hpp>
#include <tenure/lifetime/detail/job_blocks.hpp>
#include <tenure/platform/sanitizer.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

checked_prefix& prefix_of(std::uintptr_t bytes_at) noexcept {
    return *static_cast<checked_prefix*>(pointer_at(bytes_at - temp_job::prefix_bytes));
}

std::uintptr_t end_of_block(std::uintptr_t bytes_at, std::size_t bytes) noexcept {
    return bytes_at - temp_job::prefix_bytes + stride_of(bytes);
}

/// Whether the address is in a chunk, where blocks can be; nothing near it is read.
bool is_in_chunk(std::uintptr_t bytes_at) noexcept {
    const std::uintptr_t begin = bytes_at - temp_job::prefix_bytes;
    return chunk_begins.contains(pointer_at(begin)) && (begin & (job_chunk_alignment - 1)) >= chunk_lead_bytes;
}

enum class finding : std::uint8_t { whole, no_block, front, overrun };

/// Requires  a prefix can be read at this address.
finding look_at(std::uintptr_t bytes_at, std::size_t& bytes) noexcept {
    const checked_prefix& prefix = prefix_of(bytes_at);
    const std::uintptr_t begin = bytes_at - temp_job::prefix_bytes;
    if (platform::read_hidden(&prefix.canary) != (canary_of_block ^ begin)) return finding::no_block;
    const std::uint64_t word = word_of(bytes_at);
    if (platform::read_hidden(&prefix.copy) != (key_of_copy ^ word)) return finding::front;
    if (platform::read_hidden(&prefix.front) != front_pattern) return finding::front;
    bytes = word & temp_job_word::size_mask;
    // Blocks of 4 GiB or more keep their size elsewhere; the end of one is not looked at.
    if ((word & temp_job_word::large) != 0) return finding::whole;
    const std::size_t taken = bytes + (bytes == 0);
    return is_tail_guard_whole(bytes_at + taken, end_of_block(bytes_at, bytes)) ? finding::whole : finding::overrun;
}

void report_overrun(std::uintptr_t bytes_at, std::size_t bytes) noexcept {
    report_text text;
    describe_overrun(text, "TempJob", bytes_at, bytes + (bytes == 0), end_of_block(bytes_at, bytes));
    report(report_kind::misuse, text.view());
}

/// The live block in front of this one in its chunk; zero if there is none.
std::uintptr_t live_before(std::uintptr_t bytes_at) noexcept {
    const std::uintptr_t first = align_down(bytes_at, job_chunk_alignment) + chunk_lead_bytes;
    for (std::uintptr_t at = bytes_at - default_alignment; at >= first; at -= default_alignment) {
        if (state_of(at).load(std::memory_order_acquire) != job_state::none) return at;
    }
    return 0;
}

/// Reports what overwrote the prefix of a live block: the block in front of it, if that was overrun.
TENURE_COLD void report_front(std::uintptr_t bytes_at, bool in_chunk) noexcept {
    const std::uintptr_t before = in_chunk ? live_before(bytes_at) : 0;
    std::size_t bytes = 0;
    if (before != 0 && look_at(before, bytes) == finding::overrun) return report_overrun(before, bytes);
    report_misuse("memory in front of a TempJob block was overwritten", pointer_at(bytes_at),
                  "Look for a write in front of this block, or past the end of a block before it that was freed; "
                  "AddressSanitizer stops the program at the write.");
}

}

void open_job_guards(std::uintptr_t begin, std::size_t bytes) noexcept {
    platform::unpoison(pointer_at(begin), stride_of(bytes));
    auto& prefix = *static_cast<checked_prefix*>(pointer_at(begin));
    prefix.canary = canary_of_block ^ begin;
    prefix.front = front_pattern;
    std::fill(prefix.stack, prefix.stack + stack_capacity, nullptr);
}

void close_job_guards(void* block, std::size_t bytes, void* caller) noexcept {
    const std::uintptr_t bytes_at = address_of(block);
    constexpr std::size_t most_of_ours = 6;
    void* frames[stack_capacity + most_of_ours];
    void** const end = frames + host::walk_stack(frames, stack_capacity + most_of_ours);
    void** first = std::find(frames, end, caller);
    if (first == end) first = frames;
    checked_prefix& prefix = prefix_of(bytes_at);
    std::copy_n(first, std::min<std::ptrdiff_t>(end - first, stack_capacity), prefix.stack);
    prefix.copy = key_of_copy ^ header_of(bytes_at).load(std::memory_order_relaxed);
    platform::poison(&prefix, temp_job::prefix_bytes);
    set_tail_guard(bytes_at + bytes + (bytes == 0), end_of_block(bytes_at, bytes));
}

void drop_job_guards(void* block, std::size_t bytes) noexcept {
    platform::unpoison(pointer_at(address_of(block) - temp_job::prefix_bytes), stride_of(bytes));
}

bool check_job_block(void* block) noexcept {
    const std::uintptr_t bytes_at = address_of(block);
    const bool in_chunk = is_aligned(block, default_alignment) && is_in_chunk(bytes_at);
    const bool is_known = in_chunk || (is_aligned(block, default_alignment) && is_direct(bytes_at));
    std::size_t bytes = 0;
    finding found = is_known ? look_at(bytes_at, bytes) : finding::no_block;
    // A live block whose canary is gone was overwritten; anything else without a canary is no block.
    const bool is_live =
        is_known && (!in_chunk || state_of(bytes_at).load(std::memory_order_acquire) != job_state::none);
    if (found == finding::no_block && is_live) found = finding::front;
    switch (found) {
    case finding::whole: return true;
    case finding::overrun:
        if (!is_live) return true; // freed before, which the caller reports
        report_overrun(bytes_at, bytes);
        return false;
    case finding::front:
        if (!is_live) break;
        report_front(bytes_at, in_chunk);
        return false;
    case finding::no_block: break;
    }
    if (report_temp_as_job(block)) return false;
    report_misuse("a pointer freed as TempJob is not a TempJob block, or was freed before", block,
                  "Free only what temp_job::allocate or allocate(..., lifetime::temp_job) returned, and only once.");
    return false;
}

bool check_job_block(void* block, std::size_t least_bytes, std::size_t max_bytes) noexcept {
    if (!check_job_block(block)) return false;
    const std::uint64_t word = word_of(address_of(block));
    // Blocks of 4 GiB or more keep their size elsewhere.
    const std::uint64_t allocated = word & temp_job_word::size_mask;
    const bool is_known = (word & temp_job_word::large) == 0;
    const std::uint64_t counted = allocated + (allocated == 0);
    if (!is_known || (counted >= least_bytes && counted <= max_bytes + (max_bytes == 0))) return true;
    report_text text;
    text.text("a TempJob block of ").number(allocated).text(" bytes was freed as one of ").number(least_bytes);
    text.text(": ").address(block).text(". Free it with the size that it was allocated with, or without a size.");
    report(report_kind::misuse, text.view());
    return false;
}

}
