// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: heaps. tenure_engine.h: their usage.

#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/heap/heap_profile.hpp>
#include <tenure/tenure_engine.h>

using namespace tenure;

struct tn_heap {
    explicit tn_heap(const tn_heap_options& options) noexcept
        : name(capi::view_of(options.name)), source(options.source), value(translated(options), source.or_pages()) {}

    [[nodiscard]] heap_options translated(const tn_heap_options& options) const noexcept {
        const heap_options usual;
        return {name.view_or(usual.name),
                static_cast<std::size_t>(options.limit_bytes == 0 ? usual.limit_bytes : options.limit_bytes),
                capi::or_default(options.purge_delay_ns, usual.purge_delay_ns),
                static_cast<std::size_t>(capi::or_default(options.max_retained_bytes, usual.max_retained_bytes)),
                options.no_background == 0};
    }

    capi::short_name name;
    capi::callback_source source;
    heap value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_heap";
};

tn_heap* tn_heap_create(const tn_heap_options* options) {
    if (!capi::is_sized(options)) return nullptr;
    const tn_heap_options known = capi::asked(options);
    tn_heap* const made = capi::callback_source::is_whole(known.source) ? make<tn_heap>(known) : nullptr;
    if (made == nullptr || made->value.is_usable()) return made;
    destroy(made); // out of memory
    return nullptr;
}

void tn_heap_destroy(tn_heap* heap) { capi::destroy_live(heap, __func__); }

void* tn_heap_allocate(tn_heap* heap, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(heap, __func__)) return nullptr;
    return heap->value.allocate(bytes, capi::alignment_of(alignment));
}

void* tn_heap_allocate_zeroed(tn_heap* heap, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(heap, __func__)) return nullptr;
    return heap->value.allocate(bytes, capi::alignment_of(alignment), fill::zero);
}

void* tn_heap_reallocate(tn_heap* heap, void* block, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(heap, __func__)) return nullptr;
    return heap->value.reallocate(block, bytes, capi::alignment_of(alignment));
}

void tn_heap_deallocate(tn_heap* heap, void* block) {
    if (!capi::is_live(heap, __func__)) return;
    heap->value.deallocate(block);
}

std::size_t tn_heap_usable_size(const tn_heap* heap, const void* block) {
    if (!capi::is_live(heap, __func__)) return 0;
    return heap->value.usable_size(block);
}

std::uint32_t tn_heap_owns(const tn_heap* heap, const void* pointer) {
    if (!capi::is_live(heap, __func__)) return 0;
    return heap->value.owns(pointer) ? 1 : 0;
}

void tn_heap_clear(tn_heap* heap) {
    if (!capi::is_live(heap, __func__)) return;
    heap->value.clear();
}

std::size_t tn_heap_trim(tn_heap* heap) {
    if (!capi::is_live(heap, __func__)) return 0;
    return heap->value.trim();
}

void tn_heap_get_stats(const tn_heap* heap, tn_allocator_stats* stats) {
    if (!capi::is_live(heap, __func__)) return;
    capi::answer(stats, capi::figures(heap->value.stats()));
}

void tn_heap_get_usage(const tn_heap* heap, tn_heap_usage* usage) {
    if (!capi::is_live(heap, __func__)) return;
    const heap_usage seen = heap->value.usage();
    capi::answer(usage, {0, 0, seen.total.live_count, seen.total.live_bytes, seen.total.peak_bytes,
                         seen.total.reserved_bytes, seen.in_use_bytes, seen.committed_bytes, seen.resident_bytes,
                         seen.cached_bytes, seen.retained_bytes, seen.purged_bytes, seen.thread_count});
}

tn_status tn_profile_start(std::uint64_t mean_bytes) { return static_cast<tn_status>(heap_profile::start(mean_bytes)); }
tn_status tn_profile_stop() { return static_cast<tn_status>(heap_profile::stop()); }
std::uint32_t tn_profile_is_running() { return heap_profile::is_running() ? 1 : 0; }
tn_status tn_profile_save(const char* path, std::size_t length) {
    const std::string_view text = length == 0 ? std::string_view{} : std::string_view{path, length};
    return static_cast<tn_status>(heap_profile::save(text));
}
tn_status tn_profile_save_with_pages(const char* path, std::size_t length) {
    const std::string_view text = length == 0 ? std::string_view{} : std::string_view{path, length};
    return static_cast<tn_status>(heap_profile::save(text, profile_contents::stacks_and_pages));
}
