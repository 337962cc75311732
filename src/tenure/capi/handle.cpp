// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
//
// tenure.h: handles.

#include <tenure/capi/detail/callback_source.hpp>
#include <tenure/handle/handle_memory.hpp>
#include <tenure/handle/handle_table.hpp>
#include <tenure/tenure_quick.h>

using namespace tenure;

namespace {

static_assert(sizeof(tn_handle) == sizeof(handle));
static_assert(offsetof(tn_handle, pointer) == offsetof(handle, pointer));
static_assert(offsetof(tn_handle, bytes) == offsetof(handle, bytes));
static_assert(offsetof(tn_handle, entry) == offsetof(handle, entry));
static_assert(offsetof(tn_handle, generation) == offsetof(handle, generation));
static_assert(sizeof(detail::handle_word) == sizeof(std::uint64_t));

[[nodiscard]] handle translated(const tn_handle& from) noexcept {
    return {from.pointer, static_cast<std::size_t>(from.bytes), from.entry, from.generation};
}
/// The caller's handle, or a stale one if the entry was never used: the table does not check that it exists.
[[nodiscard]] handle known(const tn_handle& from) noexcept {
    const handle asked = translated(from);
    return detail::is_of_used_entry(asked) ? asked : handle{};
}
[[nodiscard]] tn_handle translated(const handle& from) noexcept {
    return {from.pointer, from.bytes, from.entry, from.generation};
}

[[nodiscard]] tn_status answered(status how, const handle& made, tn_handle* to) noexcept {
    if (how == status::ok) *to = translated(made);
    return static_cast<tn_status>(how);
}

}

const std::uint32_t* tn_handle_generations() {
    const auto* const generations = handle_table::process().generations();
    return static_cast<const std::uint32_t*>(static_cast<const void*>(generations));
}

std::uint64_t* tn_handle_words() {
    // Counting changes the words, not the table.
    auto* const words = const_cast<detail::handle_word*>(handle_table::process().words());
    return static_cast<std::uint64_t*>(static_cast<void*>(words));
}

tn_status tn_handle_allocate(std::size_t bytes, std::size_t alignment, std::uint32_t flags, const char* kind,
                             tn_handle* handle) {
    tenure::handle made;
    if ((flags & ~(TN_HANDLE_ZEROED | TN_HANDLE_HUGE_PAGES)) != 0) return TN_INVALID_ARGUMENT;
    held_options options;
    options.alignment = capi::alignment_of(alignment);
    options.how = (flags & TN_HANDLE_ZEROED) != 0 ? fill::zero : fill::none;
    options.pages = (flags & TN_HANDLE_HUGE_PAGES) != 0 ? page_size::huge : page_size::ordinary;
    options.kind = kind;
    return answered(allocate_held(bytes, options, made), made, handle);
}

tn_status tn_handle_map_file(const char* path, std::uint64_t bytes, const char* kind, tn_handle* handle) {
    tenure::handle made;
    return answered(map_held(path, static_cast<std::size_t>(bytes), kind, made), made, handle);
}

tn_status tn_handle_add(void* pointer, std::uint64_t bytes, void (*release)(void* pointer, std::size_t bytes),
                        const char* kind, tn_handle* handle) {
    // A C function type cannot be noexcept.
    auto* const releaser = reinterpret_cast<handle_releaser>(release);
    const tenure::handle made = handle_table::process().add(pointer, static_cast<std::size_t>(bytes), releaser, kind);
    return answered(made.entry != 0 ? status::ok : status::out_of_memory, made, handle);
}

std::uint32_t tn_handle_is_live(const tn_handle* handle) {
    return handle_table::process().is_live(known(*handle)) ? 1 : 0;
}

tn_status tn_handle_acquire(const tn_handle* handle) {
    return static_cast<tn_status>(handle_table::process().acquire(known(*handle)));
}

tn_status tn_handle_release(const tn_handle* handle) {
    return static_cast<tn_status>(handle_table::process().release(known(*handle)));
}

tn_status tn_handle_deallocate(const tn_handle* handle, std::uint32_t* holders) {
    return static_cast<tn_status>(handle_table::process().remove(known(*handle), holders));
}

std::uint32_t tn_handle_holders(const tn_handle* handle) { return handle_table::process().holders(known(*handle)); }

void tn_handle_for_each(void (*visit)(void* context, const tn_handle_info* info), void* context) {
    handle_table::process().for_each_live([&](const handle_info& seen) {
        const tn_handle_info info{sizeof info,     0,          translated(seen.which),
                                  seen.age_ns,     seen.kind,  seen.holders,
                                  seen.owner.id(), seen.stack, seen.stack_count};
        visit(context, &info);
    });
}

void tn_handle_get_usage(tn_handle_usage* usage) {
    const handle_usage seen = handle_table::process().usage();
    capi::answer(usage,
                 {0, 0, seen.live_count, seen.live_bytes, seen.held_count, seen.entry_count, seen.retired_count});
}
