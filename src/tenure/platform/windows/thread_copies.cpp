// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/thread_copies.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/windows/system.hpp>

// The variables lie between these two: linkers sort the parts of a section by what follows the dollar.
TENURE_IN_SECTION(".tn$a")
alignas(tenure::cache_line_bytes) constinit char tenure_thread_variables[tenure::cache_line_bytes]{};
TENURE_IN_SECTION(".tn$z") constinit char tenure_past_thread_variables[8]{};

namespace tenure::inline TENURE_ABI {

namespace {

// Of the thread control block (TEB) of 64-bit Windows: 64 slots, and a pointer for virtual machines of 16 bits, which
// do not exist there, so that it is null: with it, every access asks make_thread_copy().
constexpr std::uint32_t place_of_slots = 0x1480, place_of_null = 0x1690, fast_slots = 64;

}

constinit std::uint32_t detail::place_of_thread_copy = place_of_null;

namespace {

/// Stands in front of a copy.
struct copy_head {
    copy_head* next;
    copy_head* previous;
    void* block; ///< as the system gave it
};

struct all_copies {
    SRWLOCK lock = SRWLOCK_INIT; // guards the list
    copy_head* first = nullptr;
    std::atomic<DWORD> slot{TLS_OUT_OF_INDEXES}; // a compare-exchange decides once; acquired
};
constinit all_copies copies{};

[[nodiscard]] std::size_t bytes_of_variables() noexcept {
    return address_of(tenure_past_thread_variables) - address_of(tenure_thread_variables);
}

[[noreturn]] void end_without_memory() noexcept {
    host::write_report("tenure: out of memory for the thread-local variables of a thread\n");
    std::abort();
}

[[nodiscard]] DWORD slot_of_copies() noexcept {
    DWORD slot = copies.slot.load(std::memory_order_acquire);
    if (slot != TLS_OUT_OF_INDEXES) return slot;
    const DWORD fresh = ::TlsAlloc();
    if (fresh == TLS_OUT_OF_INDEXES) end_without_memory();
    if (!copies.slot.compare_exchange_strong(slot, fresh)) {
        ::TlsFree(fresh); // another thread was first
        return slot;
    }
    if (fresh < fast_slots) detail::place_of_thread_copy = place_of_slots + 8 * fresh;
    return fresh;
}

[[nodiscard]] std::uintptr_t distance_to(const void* copy) noexcept {
    return address_of(copy) - address_of(tenure_thread_variables);
}
[[nodiscard]] copy_head* head_of_copy(std::uintptr_t distance) noexcept {
    return static_cast<copy_head*>(pointer_at(address_of(tenure_thread_variables) + distance)) - 1;
}

void set_thread_copy(std::uintptr_t distance) noexcept {
    if (::TlsSetValue(slot_of_copies(), pointer_at(distance)) == 0) end_without_memory();
}

[[nodiscard]] std::uintptr_t make_copy() noexcept {
    const std::size_t bytes = bytes_of_variables();
    void* const block = ::HeapAlloc(::GetProcessHeap(), 0, sizeof(copy_head) + cache_line_bytes + bytes);
    if (block == nullptr) end_without_memory();
    void* const copy = pointer_at(align_up(address_of(block) + sizeof(copy_head), cache_line_bytes));
    std::memcpy(copy, tenure_thread_variables, bytes);
    auto* const head = static_cast<copy_head*>(copy) - 1;
    ::AcquireSRWLockExclusive(&copies.lock);
    *head = {copies.first, nullptr, block};
    if (copies.first != nullptr) copies.first->previous = head;
    copies.first = head;
    ::ReleaseSRWLockExclusive(&copies.lock);
    return distance_to(copy);
}

void free_copy(std::uintptr_t distance) noexcept {
    copy_head* const head = head_of_copy(distance);
    ::AcquireSRWLockExclusive(&copies.lock);
    (head->previous != nullptr ? head->previous->next : copies.first) = head->next;
    if (head->next != nullptr) head->next->previous = head->previous;
    ::ReleaseSRWLockExclusive(&copies.lock);
    ::HeapFree(::GetProcessHeap(), 0, head->block);
}

/// For the last calls of ended threads: made once, used under the loader's lock.
constinit std::uintptr_t last_copy = 0;

}

std::uintptr_t platform::thread_copy() noexcept {
    const kept_error kept; // TlsGetValue() changes it
    return address_of(::TlsGetValue(slot_of_copies()));
}

std::uintptr_t detail::make_thread_copy() noexcept {
    const platform::kept_error kept;
    std::uintptr_t distance = address_of(::TlsGetValue(slot_of_copies()));
    if (distance != 0) return distance;
    distance = make_copy();
    set_thread_copy(distance);
    return distance;
}

void platform::end_thread_copy() noexcept {
    const std::uintptr_t distance = thread_copy();
    if (last_copy == 0) last_copy = make_copy();
    std::memcpy(pointer_at(address_of(tenure_thread_variables) + last_copy), tenure_thread_variables,
                bytes_of_variables());
    set_thread_copy(last_copy);
    if (distance != 0 && distance != last_copy) free_copy(distance);
}

void platform::forget_thread_copies() noexcept {
    const DWORD slot = copies.slot.exchange(TLS_OUT_OF_INDEXES);
    if (slot == TLS_OUT_OF_INDEXES) return;
    detail::place_of_thread_copy = place_of_null;
    ::TlsFree(slot);
    while (copies.first != nullptr) free_copy(distance_to(copies.first + 1));
    last_copy = 0;
}

}
