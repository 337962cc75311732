// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: the process heap, lifetimes, and the process's figures.

#include <cstddef>
#include <cstring>
#include <new>

#include <tenure/base/compiler.hpp>
#include <tenure/base/frame_clock.hpp>
#include <tenure/base/options.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/lifetime/temp_job.hpp>

using namespace tenure;

namespace {

static_assert(static_cast<tn_lifetime>(lifetime::temp) == TN_TEMP);
static_assert(static_cast<tn_lifetime>(lifetime::temp_job) == TN_TEMP_JOB);
static_assert(static_cast<tn_lifetime>(lifetime::persistent) == TN_PERSISTENT);

// A scope lives in the caller's structure from its begin to its end.
static_assert(sizeof(temp_scope) == sizeof(tn_temp_scope));
static_assert(alignof(temp_scope) == alignof(tn_temp_scope));

/// Whether a lifetime is valid. If not, the block stays allocated.
[[nodiscard]] bool is_lifetime(tn_lifetime held, const void* block) noexcept {
    if constexpr (checks::caller) {
        if (held > TN_PERSISTENT)
            report_misuse("a block was freed with an invalid lifetime", block,
                          "It stays allocated. Free it with the lifetime that it was allocated with.");
    }
    return held <= TN_PERSISTENT;
}

}

void* tn_malloc(std::size_t bytes) { return detail::process_allocate(bytes, default_alignment); }

void* tn_calloc(std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (detail::multiply_overflows(count, bytes, product)) return nullptr;
    return heap::process().allocate(product, default_alignment, fill::zero);
}

void* tn_realloc(void* block, std::size_t bytes) { return heap::process().reallocate(block, bytes); }

void* tn_aligned_alloc(std::size_t bytes, std::size_t alignment) {
    return detail::process_allocate(bytes, capi::alignment_of(alignment));
}

void* tn_aligned_realloc(void* block, std::size_t bytes, std::size_t alignment) {
    return heap::process().reallocate(block, bytes, capi::alignment_of(alignment));
}

void tn_free(void* block) { detail::deallocate_persistent(block); }

void tn_free_sized(void* block, std::size_t bytes) { detail::deallocate_persistent(block, bytes); }

std::size_t tn_usable_size(const void* block) { return heap::process().usable_size(block); }
std::uint32_t tn_owns(const void* pointer) { return heap::process().owns(pointer) ? 1 : 0; }
std::size_t tn_trim() { return heap::process().trim() + temp_job::trim(); }

void* tn_allocate(std::size_t bytes, std::size_t alignment, tn_lifetime held) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    const bool is_known = capi::is_allowed(held <= TN_PERSISTENT, "tn_allocate", "lifetime", held,
                                           "Pass TN_TEMP, TN_TEMP_JOB or TN_PERSISTENT.");
    if (!is_known || !capi::is_alignment("tn_allocate", aligned_to)) return nullptr;
    return allocate(bytes, static_cast<lifetime>(held), aligned_to);
}

void tn_deallocate(void* block, tn_lifetime held) {
    if (block != nullptr && is_lifetime(held, block)) deallocate(block, static_cast<lifetime>(held));
}

void tn_deallocate_sized(void* block, std::size_t bytes, tn_lifetime held) {
    if (block != nullptr && is_lifetime(held, block)) deallocate(block, bytes, static_cast<lifetime>(held));
}

void tn_next_frame() { next_frame(); }
std::uint64_t tn_frame() { return frame_clock::now(); }
void tn_reset_temp() { reset_temp(); }
std::uint32_t tn_warm_up(std::size_t bytes, tn_lifetime held) {
    return held <= TN_PERSISTENT && warm_up(bytes, static_cast<lifetime>(held)) ? 1 : 0;
}

void tn_temp_begin(tn_temp_scope* scope) { ::new (static_cast<void*>(scope)) temp_scope; }

void tn_temp_end(const tn_temp_scope* scope) {
    // End the scope in a copy, because the caller's structure may be in read-only memory. Copy bytes instead of
    // assigning it: the compiler may assume that nothing reads its fields as a scope's, and drop the copy.
    alignas(temp_scope) unsigned char copy[sizeof(temp_scope)];
    std::memcpy(copy, scope, sizeof copy);
    std::launder(static_cast<temp_scope*>(static_cast<void*>(copy)))->~temp_scope();
}

void tn_temp_get_stats(tn_temp_stats* stats) {
    const temp_stats seen = temp::stats();
    capi::answer(stats, {0, 0, seen.budget_bytes, seen.used_bytes, seen.committed_bytes, seen.overflow_count,
                         seen.overflow_bytes, seen.overflow_peak_bytes});
}

void tn_get_stats(tn_stats* stats) {
    const allocator_stats heap_seen = heap::process().stats();
    const heap_usage usage = heap::process().usage();
    const temp_job_stats job = temp_job::stats();
    tn_stats filled{};
    filled.heap_is_ours = passthrough_enabled(part::heap) ? 0 : 1;
    filled.live_count = heap_seen.live_count;
    filled.live_bytes = heap_seen.live_bytes;
    filled.peak_bytes = heap_seen.peak_bytes;
    filled.committed_bytes = usage.committed_bytes;
    filled.reserved_bytes = heap_seen.reserved_bytes;
    filled.retained_bytes = usage.retained_bytes;
    filled.thread_count = usage.thread_count;
    filled.temp_job_live_count = job.live_count;
    filled.temp_job_live_bytes = job.live_bytes;
    filled.temp_job_chunk_bytes = job.chunk_bytes;
    filled.temp_job_leaked_count = job.leaked_count;
    filled.resident_bytes = usage.resident_bytes;
    filled.cached_bytes = usage.cached_bytes;
    filled.sample_count = heap_profile::sample_count();
    capi::answer(stats, filled);
}
