// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: arenas.

#include <new>

#include <tenure/arena/arena.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>

using namespace tenure;

namespace {

/// Shown to callers in place of the arena's cursor and limit where they must not allocate by themselves: no room.
template<bool is_checked>
struct shown_in_front {
    tn_arena without_room{0, 0};
};
template<>
struct shown_in_front<false> {};

/// What a tn_arena points to. The arena comes first, and it starts with its cursor and limit: a test checks this. In
/// checked builds something else comes first.
struct whole_arena : shown_in_front<checks::caller> {
    whole_arena(std::size_t first_chunk_bytes, const tn_block_source* functions) noexcept
        : value(first_chunk_bytes, memory(functions)) {}
    /// The source is constructed first, although it comes after the arena in memory.
    [[nodiscard]] block_source& memory(const tn_block_source* functions) noexcept {
        return (::new (static_cast<void*>(source_memory)) capi::callback_source(functions))->or_pages();
    }

    arena value;
    alignas(capi::callback_source) unsigned char source_memory[sizeof(capi::callback_source)];
    [[no_unique_address]] capi::owner_life life;
    [[maybe_unused]] static constexpr std::string_view type_name = "tn_arena";
};

[[nodiscard]] whole_arena* whole(tn_arena* of) noexcept { return static_cast<whole_arena*>(static_cast<void*>(of)); }
[[nodiscard]] const whole_arena* whole(const tn_arena* of) noexcept {
    return static_cast<const whole_arena*>(static_cast<const void*>(of));
}

static_assert(sizeof(arena::marker) == sizeof(tn_arena_marker));
static_assert(std::is_trivially_copyable_v<arena::marker>);

}

tn_arena* tn_arena_create(std::size_t first_chunk_bytes, const tn_block_source* source) {
    constexpr std::size_t usual_bytes = std::size_t{64} * 1024;
    const bool is_size = capi::is_allowed(first_chunk_bytes <= max_object_bytes, "tn_arena_create", "first_chunk_bytes",
                                          first_chunk_bytes, "It is at most half of the address space.");
    if (!is_size || !capi::callback_source::is_whole(source)) return nullptr;
    auto* const made = make<whole_arena>(first_chunk_bytes == 0 ? usual_bytes : first_chunk_bytes, source);
    return static_cast<tn_arena*>(static_cast<void*>(made));
}

void tn_arena_destroy(tn_arena* arena) { capi::destroy_live(whole(arena), __func__); }

void* tn_arena_allocate(tn_arena* arena, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(whole(arena), __func__)) return nullptr;
    const std::size_t aligned_to = capi::alignment_of(alignment);
    return capi::is_alignment("tn_arena_allocate", aligned_to) ? whole(arena)->value.allocate(bytes, aligned_to)
                                                               : nullptr;
}

void tn_arena_deallocate(tn_arena* arena, void* block, std::size_t bytes) {
    if (!capi::is_live(whole(arena), __func__)) return;
    if (block != nullptr) whole(arena)->value.deallocate(block, bytes);
}

void tn_arena_mark(const tn_arena* arena, tn_arena_marker* marker) {
    if (!capi::is_live(whole(arena), __func__)) return;
    const arena::marker here = whole(arena)->value.mark();
    std::memcpy(marker, &here, sizeof here);
}

void tn_arena_rewind(tn_arena* arena, const tn_arena_marker* marker) {
    if (!capi::is_live(whole(arena), __func__)) return;
    arena::marker to;
    std::memcpy(static_cast<void*>(&to), marker, sizeof to);
    whole(arena)->value.rewind(to);
}

void tn_arena_clear(tn_arena* arena) {
    if (!capi::is_live(whole(arena), __func__)) return;
    whole(arena)->value.clear();
}

std::size_t tn_arena_trim(tn_arena* arena) {
    if (!capi::is_live(whole(arena), __func__)) return 0;
    return whole(arena)->value.trim();
}

void tn_arena_get_stats(const tn_arena* arena, tn_allocator_stats* stats) {
    if (!capi::is_live(whole(arena), __func__)) return;
    capi::answer(stats, capi::figures(whole(arena)->value.stats()));
}
