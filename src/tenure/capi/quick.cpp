// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: short calls. tenure_quick.h: the layout that lets a caller allocate without a call.

#include <bit>
#include <cstddef>

#include <tenure/base/options.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/heap/detail/heap_memory.hpp>
#include <tenure/heap/detail/small/size_classes.hpp>
#include <tenure/heap/detail/small/thread_cache.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/detail/thread_lifetimes.hpp>
#include <tenure/lifetime/temp_job.hpp>
#include <tenure/tenure_quick.h>

using namespace tenure;

namespace {

// The fields that callers read in our structures are where tenure_quick.h says.
static_assert(sizeof(tn_block_cache) == sizeof(detail::block_cache));
static_assert(offsetof(tn_block_cache, count) == offsetof(detail::block_cache, count));
static_assert(offsetof(tn_block_cache, capacity) == offsetof(detail::block_cache, capacity));
static_assert(offsetof(tn_block_cache, blocks) == offsetof(detail::block_cache, blocks));
static_assert(sizeof(detail::block_cache::count) == sizeof(std::uint32_t));
static_assert(offsetof(tn_temp_position, cursor) == offsetof(detail::thread_lifetimes, temp_cursor));
static_assert(offsetof(tn_temp_position, limit) == offsetof(detail::thread_lifetimes, temp_limit));
static_assert(offsetof(tn_temp_position, region) == offsetof(detail::thread_lifetimes, temp_chunk));
static_assert(offsetof(tn_temp_job_state, cursor) == offsetof(detail::job_front, cursor));
static_assert(offsetof(tn_temp_job_state, limit) == offsetof(detail::job_front, limit));
static_assert(offsetof(tn_temp_job_state, word) == offsetof(detail::job_front, word));
static_assert(sizeof(tn_temp_job_state) == sizeof(detail::job_front));
static_assert(checks::caller || temp_job::prefix_bytes == 8);
static_assert(detail::temp_job_word::direct == std::uint64_t{1} << 63 && sizeof(detail::job_state) == 1);
static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t));
static_assert(offsetof(detail::thread_tag, id) == 0 && sizeof(detail::thread_tag::id) == sizeof(std::uint16_t));

}

void* tn_try_malloc(std::size_t bytes) {
    detail::thread_cache* const cache = detail::process_cache();
    void* block = nullptr;
    if (checks::caller || cache == nullptr || bytes > detail::max_small_bytes) return nullptr;
    return detail::pop(block, cache->of_class[detail::class_for(bytes, default_alignment)]) ? block : nullptr;
}

std::uint32_t tn_try_free(void* block) {
    detail::thread_cache* const cache = detail::process_cache();
    const bool is_special = (address_of(block) & (detail::max_segment_bytes - 1)) == 0;
    if (checks::caller || cache == nullptr || is_special) return 0;
    return detail::push(cache->of_class[detail::class_number_at(block, detail::max_segment_bytes)], block) ? 1 : 0;
}

std::uint32_t tn_quick_version() { return TN_QUICK_VERSION; }

void tn_get_quick_layout(tn_quick_layout* layout) {
    constexpr auto shift_of = [](std::size_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); };
    tn_quick_layout filled{};
    filled.is_available = checks::caller || passthrough_enabled(part::heap) ? 0 : 1;
    filled.caches_offset = offsetof(detail::thread_cache, of_class);
    filled.classes_limit_bytes = detail::table_limit_bytes;
    filled.class_of_eights = detail::class_table.data();
    filled.segment_shift = shift_of(detail::max_segment_bytes);
    filled.slice_shift = shift_of(detail::slice_bytes);
    filled.classes_of_slices_offset = offsetof(detail::segment_head, class_of_slice);
    filled.job_chunk_shift = shift_of(detail::job_chunk_alignment);
    filled.job_states_offset = detail::job_states_offset;
    capi::answer(layout, filled);
}

void tn_get_quick_thread(tn_quick_thread* thread) {
    tn_quick_thread filled{};
    filled.heap_cache = static_cast<void* const*>(static_cast<void*>(&detail::process_cache()));
    filled.temp = static_cast<tn_temp_position*>(static_cast<void*>(&detail::this_thread()));
    filled.tag = &detail::this_thread_tag().id;
    filled.temp_job = static_cast<tn_temp_job_state* const*>(static_cast<void*>(&detail::this_thread().job));
    capi::answer(thread, filled);
}
