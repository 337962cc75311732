// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: offsets.

#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/offset/offset_allocator.hpp>

using namespace tenure;

struct tn_offset_allocator {
    explicit tn_offset_allocator(std::uint64_t capacity) noexcept : value(capacity) {}
    offset_allocator value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_offset_allocator";
};

namespace {

static_assert(offset_range::no_id == UINT32_MAX);

[[nodiscard]] offset_range translated(tn_offset_range range) noexcept { return {range.offset, range.id}; }

}

tn_offset_allocator* tn_offset_create(std::uint64_t capacity) {
    const bool is_valid = capi::is_allowed(capacity <= offset_allocator::max_capacity, "tn_offset_create", "capacity",
                                           capacity, "The largest capacity is 2^62 units.");
    return is_valid ? make<tn_offset_allocator>(capacity) : nullptr;
}

void tn_offset_destroy(tn_offset_allocator* offsets) { capi::destroy_live(offsets, __func__); }

tn_status tn_offset_allocate(tn_offset_allocator* offsets, std::uint64_t size, std::uint64_t alignment,
                             tn_offset_range* range) {
    if (!capi::is_live(offsets, __func__)) return TN_INVALID_ARGUMENT;
    const std::uint64_t aligned_to = alignment == 0 ? 1 : alignment;
    if (!capi::is_alignment("tn_offset_allocate", aligned_to)) return TN_INVALID_ARGUMENT;
    const offset_range found = offsets->value.allocate(size, aligned_to);
    if (!found) return TN_OUT_OF_MEMORY;
    *range = {found.offset, found.id, 0};
    return TN_OK;
}

void tn_offset_deallocate(tn_offset_allocator* offsets, tn_offset_range range) {
    if (!capi::is_live(offsets, __func__)) return;
    offsets->value.deallocate(translated(range));
}

void tn_offset_deallocate_after(tn_offset_allocator* offsets, tn_offset_range range, std::uint32_t frames) {
    if (!capi::is_live(offsets, __func__)) return;
    offsets->value.deallocate_after(translated(range), frames);
}

std::uint64_t tn_offset_collect(tn_offset_allocator* offsets) {
    if (!capi::is_live(offsets, __func__)) return 0;
    return offsets->value.collect();
}

tn_status tn_offset_grow(tn_offset_allocator* offsets, std::uint64_t capacity) {
    if (!capi::is_live(offsets, __func__)) return TN_INVALID_ARGUMENT;
    if (capacity < offsets->value.capacity() || capacity > offset_allocator::max_capacity) return TN_INVALID_ARGUMENT;
    return offsets->value.grow(capacity) ? TN_OK : TN_OUT_OF_MEMORY;
}

tn_status tn_offset_shrink(tn_offset_allocator* offsets, std::uint64_t capacity) {
    if (!capi::is_live(offsets, __func__)) return TN_INVALID_ARGUMENT;
    if (capacity > offsets->value.capacity()) return TN_INVALID_ARGUMENT;
    return offsets->value.shrink(capacity) ? TN_OK : TN_STILL_HELD;
}

void tn_offset_clear(tn_offset_allocator* offsets) {
    if (!capi::is_live(offsets, __func__)) return;
    offsets->value.clear();
}

std::uint64_t tn_offset_size_of(const tn_offset_allocator* offsets, tn_offset_range range) {
    if (!capi::is_live(offsets, __func__)) return 0;
    return offsets->value.size_of(translated(range));
}

void tn_offset_get_usage(const tn_offset_allocator* offsets, tn_offset_usage* usage) {
    if (!capi::is_live(offsets, __func__)) return;
    const offset_usage seen = offsets->value.usage();
    capi::answer(usage, {0, 0, seen.capacity, seen.free, seen.largest_free, seen.waiting, seen.range_count,
                         seen.free_count, seen.record_bytes});
}

void tn_offset_walk(const tn_offset_allocator* offsets,
                    void (*visit)(void* context, std::uint64_t offset, std::uint64_t size, std::uint32_t is_free),
                    void* context) {
    if (!capi::is_live(offsets, __func__)) return;
    offsets->value.walk(
        [&](std::uint64_t offset, std::uint64_t size, bool is_free) { visit(context, offset, size, is_free ? 1 : 0); });
}
