// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure_engine.h: scratch stacks, Temp of fibers, pools with handles, memory that frees itself, budgets, hooks.

#include <tenure/tenure_engine.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include <tenure/base/hooks.hpp>
#include <tenure/base/tag.hpp>
#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/capi/detail/owner_life.hpp>
#include <tenure/heap/budget.hpp>
#include <tenure/lifetime/frame_memory.hpp>
#include <tenure/lifetime/scratch.hpp>
#include <tenure/lifetime/temp_state.hpp>
#include <tenure/platform/thread.hpp>
#include <tenure/pool/block_pool.hpp>
#include <tenure/pool/detail/handle_slots.hpp>

using namespace tenure;

struct tn_handle_pool {
    tn_handle_pool(std::size_t bytes, std::size_t alignment, std::size_t max_count) noexcept
        : slots(bytes, alignment, max_count) {}
    detail::handle_slots slots;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_handle_pool";
};

struct tn_temp_state {
    explicit tn_temp_state(std::size_t budget_bytes) noexcept : value(budget_bytes) {}
    temp_state value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_temp_state";
};

struct tn_frame_memory {
    tn_frame_memory(std::uint32_t frames, const tn_block_source* functions) noexcept
        : source(functions), value(frames, source.or_pages()) {}
    capi::callback_source source;
    frame_memory value;
    [[no_unique_address]] capi::owner_life life;
    static constexpr std::string_view type_name = "tn_frame_memory";
};

namespace {

// NOLINTNEXTLINE(misc-redundant-expression): two types of one name
static_assert(sizeof(scratch_scope) <= sizeof(tn_scratch_scope) && alignof(scratch_scope) <= alignof(tn_scratch_scope));

[[nodiscard]] temp_stack& stack_of(tn_temp_stack stack) noexcept {
    return stack == TN_TEMP_FIRST ? temp_stack::first() : temp_stack::second();
}
[[nodiscard]] scratch_scope& opened(tn_scratch_scope* scope) noexcept {
    return *std::launder(static_cast<scratch_scope*>(static_cast<void*>(scope)));
}

/// The structure of C around a state, which is its first member.
[[nodiscard]] tn_temp_state* whole_state(temp_state* state) noexcept {
    return static_cast<tn_temp_state*>(static_cast<void*>(state));
}

struct slot_name {
    std::uint32_t index;
    std::uint32_t generation;
};
[[nodiscard]] slot_name name_of(tn_pool_handle handle) noexcept {
    return {static_cast<std::uint32_t>(handle), static_cast<std::uint32_t>(handle >> 32)};
}
[[nodiscard]] tn_pool_handle handle_at(const detail::handle_slots& slots, std::size_t index) noexcept {
    return std::uint64_t{slots.generation_of(index)} << 32 | index;
}
[[nodiscard]] void* object_at(const detail::handle_slots& slots, std::size_t index) noexcept {
    return pointer_at(slots.objects() + index * slots.stride());
}
void free_slot(detail::handle_slots& slots, std::size_t index) noexcept {
    slots.make_stale(index);
    slots.give(index);
}

/// Hooks of C, each with what calls them. Written once, by the call that takes the place.
struct c_hooks {
    tn_hooks asked;
    allocation_hooks installed;
    std::atomic<bool> is_written; // released after both tables; has() acquires it

    static const tn_hooks& of(void* context) noexcept { return static_cast<const c_hooks*>(context)->asked; }
    static bool is_told(const tn_hooks& hooks) noexcept {
        return (hooks.flags & TN_HOOKS_NOT_AT_THREAD_END) == 0 || !platform::is_thread_ending();
    }
    static void call_begin(std::string_view what, std::size_t bytes, void* context) noexcept {
        const tn_hooks& hooks = of(context);
        if (is_told(hooks)) hooks.call_begin(hooks.context, capi::text_of(what), bytes);
    }
    static void call_end(std::string_view what, void* context) noexcept {
        const tn_hooks& hooks = of(context);
        if (is_told(hooks)) hooks.call_end(hooks.context, capi::text_of(what));
    }
    static void block_begin(const void* block, std::size_t bytes, void* context) noexcept {
        const tn_hooks& hooks = of(context);
        if (is_told(hooks)) hooks.block_begin(hooks.context, block, bytes);
    }
    static void block_end(const void* block, void* context) noexcept {
        const tn_hooks& hooks = of(context);
        if (is_told(hooks)) hooks.block_end(hooks.context, block);
    }

    [[nodiscard]] bool has(const tn_hooks& wanted) const noexcept {
        return is_written.load(std::memory_order_acquire) && asked.flags == wanted.flags &&
               asked.context == wanted.context && asked.call_begin == wanted.call_begin &&
               asked.call_end == wanted.call_end && asked.block_begin == wanted.block_begin &&
               asked.block_end == wanted.block_end;
    }
    void write(const tn_hooks& wanted) noexcept {
        asked = wanted;
        installed = {asked.call_begin != nullptr ? &c_hooks::call_begin : nullptr,
                     asked.call_end != nullptr ? &c_hooks::call_end : nullptr,
                     asked.block_begin != nullptr ? &c_hooks::block_begin : nullptr,
                     asked.block_end != nullptr ? &c_hooks::block_end : nullptr, this};
        is_written.store(true, std::memory_order_release);
    }
};
constexpr std::size_t max_hooks = 8;
constinit c_hooks hooks_of_c[max_hooks]{};
constinit std::atomic<std::size_t> hooks_taken{0}; // relaxed: it only gives each caller another place

/// The copy of such hooks; nullptr when all places are taken. Two threads at once may copy the same hooks twice.
[[nodiscard]] const allocation_hooks* kept_hooks(const tn_hooks& wanted) noexcept {
    for (const c_hooks& each : hooks_of_c)
        if (each.has(wanted)) return &each.installed;
    const std::size_t index = hooks_taken.load(std::memory_order_relaxed) < max_hooks
                                  ? hooks_taken.fetch_add(1, std::memory_order_relaxed)
                                  : max_hooks;
    if (index >= max_hooks) return nullptr;
    hooks_of_c[index].write(wanted);
    return &hooks_of_c[index].installed;
}

void call_handler(const budget_event& event, const detail::budget_call& with) noexcept {
    const tn_budget_event told{
        sizeof(tn_budget_event),   event.what == budget_event::kind::refusal ? TN_BUDGET_REFUSAL : TN_BUDGET_THRESHOLD,
        capi::text_of(event.name), event.used_bytes,
        event.requested_bytes,     event.threshold_bytes,
        event.limit_bytes};
    reinterpret_cast<tn_budget_handler>(with.function)(with.context, &told); // NOLINT: tn_set_budget has cast it
}

}

void* tn_temp_stack_allocate(tn_temp_stack stack, std::size_t bytes, std::size_t alignment) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    return capi::is_alignment("tn_temp_stack_allocate", aligned_to) ? stack_of(stack).allocate(bytes, aligned_to)
                                                                    : nullptr;
}

tn_temp_stack tn_scratch_begin(tn_scratch_scope* scope, tn_temp_stack results) {
    const auto* const made = ::new (static_cast<void*>(scope)) scratch_scope(stack_of(results));
    return &made->stack() == &temp_stack::first() ? TN_TEMP_FIRST : TN_TEMP_SECOND;
}
void tn_scratch_end(tn_scratch_scope* scope) { opened(scope).~scratch_scope(); }

tn_temp_state* tn_temp_state_create(std::size_t budget_bytes) { return make<tn_temp_state>(budget_bytes); }
void tn_temp_state_destroy(tn_temp_state* state) { capi::destroy_live(state, __func__); }

tn_status tn_temp_state_switch(tn_temp_state* next, tn_temp_state** before) {
    if (next != nullptr && !capi::is_live(next, __func__)) return TN_INVALID_ARGUMENT;
    temp_state* const wanted = next != nullptr ? &next->value : nullptr;
    temp_state* const former = temp_state::switch_to(wanted);
    if (before != nullptr) *before = whole_state(former);
    if (temp_state::current() == wanted) return TN_OK;
    return detail::this_thread().record == nullptr ? TN_OUT_OF_MEMORY : TN_INVALID_ARGUMENT;
}

tn_temp_state* tn_temp_state_current() { return whole_state(temp_state::current()); }

tn_handle_pool* tn_handle_pool_create(std::size_t bytes, std::size_t alignment, std::size_t max_count) {
    const std::size_t aligned_to = capi::alignment_of(alignment);
    constexpr std::string_view call = "tn_handle_pool_create";
    if (!capi::is_block_of_pool(call, bytes, aligned_to)) return nullptr;
    const bool is_count = max_count != 0 && max_count <= detail::handle_slots::max_slots;
    if (!capi::is_allowed(is_count, call, "max_count", max_count, "A pool has 1 to 2^32 objects.")) return nullptr;
    return make<tn_handle_pool>(bytes, aligned_to, max_count);
}
void tn_handle_pool_destroy(tn_handle_pool* pool) { capi::destroy_live(pool, __func__); }

tn_pool_handle tn_handle_pool_allocate(tn_handle_pool* pool, void** object) {
    if (!capi::is_live(pool, __func__)) return 0;
    const detail::sole_call call = pool->slots.begin_call();
    if (!call) return 0;
    const std::size_t index = pool->slots.take();
    if (index == detail::handle_slots::no_slot) return 0;
    pool->slots.make_live(index);
    if (object != nullptr) *object = object_at(pool->slots, index);
    return handle_at(pool->slots, index);
}

tn_status tn_handle_pool_deallocate(tn_handle_pool* pool, tn_pool_handle handle) {
    if (!capi::is_live(pool, __func__)) return TN_INVALID_ARGUMENT;
    const slot_name which = name_of(handle);
    const detail::sole_call call = pool->slots.begin_call();
    if (!call || !pool->slots.is_live(which.index, which.generation)) return TN_STALE_HANDLE;
    free_slot(pool->slots, which.index);
    return TN_OK;
}

void* tn_handle_pool_get(const tn_handle_pool* pool, tn_pool_handle handle) {
    if (!capi::is_live(pool, __func__)) return nullptr;
    const slot_name which = name_of(handle);
    return pool->slots.is_live(which.index, which.generation) ? object_at(pool->slots, which.index) : nullptr;
}

void* tn_handle_pool_next(const tn_handle_pool* pool, tn_pool_handle* handle) {
    if (!capi::is_live(pool, __func__)) return nullptr;
    const std::size_t from = *handle == 0 ? 0 : std::size_t{name_of(*handle).index} + 1;
    const std::size_t index = pool->slots.next_live(from);
    if (index >= pool->slots.end()) return nullptr;
    *handle = handle_at(pool->slots, index);
    return object_at(pool->slots, index);
}

void tn_handle_pool_clear(tn_handle_pool* pool) {
    if (!capi::is_live(pool, __func__)) return;
    detail::handle_slots& slots = pool->slots;
    const detail::sole_call call = slots.begin_call();
    if (!call) return;
    for (std::size_t index = slots.next_live(0); index < slots.end(); index = slots.next_live(index + 1))
        free_slot(slots, index);
}
std::size_t tn_handle_pool_trim(tn_handle_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->slots.trim();
}
std::size_t tn_handle_pool_size(const tn_handle_pool* pool) {
    if (!capi::is_live(pool, __func__)) return 0;
    return pool->slots.size();
}

tn_frame_memory* tn_frame_memory_create(std::uint32_t frames, const tn_block_source* source) {
    const bool is_count = capi::is_allowed(frames >= 1 && frames <= frame_memory::max_frames, "tn_frame_memory_create",
                                           "frames", frames, "Memory lives for 1 to 8 frames.");
    return is_count && capi::callback_source::is_whole(source) ? make<tn_frame_memory>(frames, source) : nullptr;
}
void tn_frame_memory_destroy(tn_frame_memory* memory) { capi::destroy_live(memory, __func__); }
void* tn_frame_memory_allocate(tn_frame_memory* memory, std::size_t bytes, std::size_t alignment) {
    if (!capi::is_live(memory, __func__)) return nullptr;
    return memory->value.allocate(bytes, capi::alignment_of(alignment));
}
std::size_t tn_frame_memory_trim(tn_frame_memory* memory) {
    if (!capi::is_live(memory, __func__)) return 0;
    return memory->value.trim();
}
void tn_frame_memory_get_stats(const tn_frame_memory* memory, tn_allocator_stats* stats) {
    if (!capi::is_live(memory, __func__)) return;
    capi::answer(stats, capi::figures(memory->value.stats()));
}

tn_status tn_set_budget(std::uint32_t tag, std::uint64_t limit_bytes, std::uint64_t threshold_bytes,
                        tn_budget_handler handler, void* context) {
    if (tag == 0 || tag >= tenure::tag::count()) return TN_INVALID_ARGUMENT;
    detail::tag_budget_values to{limit_bytes, threshold_bytes, {}};
    if (handler != nullptr)
        to.handler = {&call_handler, reinterpret_cast<void (*)()>(handler), context}; // NOLINT: as above
    static_cast<void>(detail::set_tag_budget(tenure::tag::from_id(static_cast<std::uint16_t>(tag)), to));
    return TN_OK;
}

tn_status tn_budget_of(std::uint32_t tag, tn_budget* budget) {
    if (tag >= tenure::tag::count()) return TN_INVALID_ARGUMENT;
    const auto set = detail::tag_budget_of(tenure::tag::from_id(static_cast<std::uint16_t>(tag)));
    tn_budget filled{0, 0, set.limit_bytes, set.threshold_bytes, nullptr, nullptr};
    if (set.handler.call == &call_handler) {
        filled.handler = reinterpret_cast<tn_budget_handler>(set.handler.function); // NOLINT: as above
        filled.context = set.handler.context;
    }
    return capi::answer(budget, filled) ? TN_OK : TN_INVALID_ARGUMENT;
}

std::uint64_t tn_refusals_of(std::uint32_t tag) {
    return tag < tenure::tag::count() ? refusals_of(tenure::tag::from_id(static_cast<std::uint16_t>(tag))) : 0;
}

tn_status tn_set_hooks(const tn_hooks* hooks) {
    if (hooks == nullptr) {
        set_hooks(nullptr);
        return TN_OK;
    }
    if (!capi::says_size(hooks, hooks->size, offsetof(tn_hooks, call_begin))) return TN_INVALID_ARGUMENT;
    tn_hooks wanted{};
    std::memcpy(static_cast<void*>(&wanted), hooks, std::min<std::size_t>(hooks->size, sizeof(tn_hooks)));
    const bool are_flags = capi::is_allowed((wanted.flags & ~TN_HOOKS_NOT_AT_THREAD_END) == 0, "tn_set_hooks", "flags",
                                            wanted.flags, "It is zero or TN_HOOKS_NOT_AT_THREAD_END.");
    if (!are_flags) return TN_INVALID_ARGUMENT;
    const allocation_hooks* const kept = kept_hooks(wanted);
    if (kept == nullptr) return TN_OUT_OF_MEMORY;
    set_hooks(kept);
    return TN_OK;
}
