// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/memory.hpp>

#include <algorithm>
#include <atomic>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/range_table.hpp>
#include <tenure/platform/windows/system.hpp>

// The system reserves addresses at multiples of 64 KiB, and takes back only whole reservations. So the library counts
// for some of them how many bytes are in use: those of which a part was given back, and those that are longer than was
// asked, so that they can be extended in place. Others are not recorded.

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t granularity = std::size_t{64} * 1024;

constinit range_table counted{};

/// VirtualAlloc2 of Windows 10 takes an alignment.
void* reserve_with_alignment(std::size_t bytes, std::size_t alignment, bool& is_known) noexcept {
    using allocate = void*(__stdcall*)(HANDLE, void*, SIZE_T, ULONG, ULONG, MEM_EXTENDED_PARAMETER*, ULONG);
    // Relaxed: every thread finds the same code of the system.
    static constinit std::atomic<allocate> known{nullptr};
    static constinit std::atomic<bool> is_missing{false};
    is_known = false;
    if (is_missing.load(std::memory_order_relaxed)) return nullptr;
    allocate called = known.load(std::memory_order_relaxed);
    if (called == nullptr) {
        called = function_of<allocate>(L"kernelbase.dll", "VirtualAlloc2");
        is_missing.store(called == nullptr, std::memory_order_relaxed);
        if (called == nullptr) return nullptr;
        known.store(called, std::memory_order_relaxed);
    }
    MEM_ADDRESS_REQUIREMENTS wanted{};
    wanted.Alignment = alignment;
    MEM_EXTENDED_PARAMETER parameter{};
    parameter.Type = MemExtendedParameterAddressRequirements;
    parameter.Pointer = &wanted;
    void* const range = called(nullptr, nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS, &parameter, 1);
    const DWORD error = range == nullptr ? ::GetLastError() : 0;
    is_known = range != nullptr || error == ERROR_NOT_ENOUGH_MEMORY || error == ERROR_COMMITMENT_LIMIT;
    if (range != nullptr && !is_aligned(range, alignment)) { // an emulation that ignores it
        ::VirtualFree(range, 0, MEM_RELEASE);
        is_missing.store(true, std::memory_order_relaxed);
        is_known = false;
        return nullptr;
    }
    return range;
}

/// Finds free addresses with a larger reservation, gives that back and takes the aligned part. Another thread may be
/// faster.
void* reserve_by_trial(std::size_t bytes, std::size_t alignment) noexcept {
    constexpr int max_tries = 32;
    for (int tries = 0; tries < max_tries; ++tries) {
        void* const larger = ::VirtualAlloc(nullptr, bytes + alignment - granularity, MEM_RESERVE, PAGE_NOACCESS);
        if (larger == nullptr) return nullptr;
        ::VirtualFree(larger, 0, MEM_RELEASE);
        void* const wanted = pointer_at(align_up(address_of(larger), alignment));
        if (::VirtualAlloc(wanted, bytes, MEM_RESERVE, PAGE_NOACCESS) == wanted) return wanted;
    }
    return nullptr;
}

void* reserve_exactly(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes == 0 || bytes > max_object_bytes || alignment > max_object_bytes - bytes) return nullptr;
    if (alignment <= granularity) return ::VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS);
    bool is_known = false;
    void* const range = reserve_with_alignment(bytes, alignment, is_known);
    return range != nullptr || is_known ? range : reserve_by_trial(bytes, alignment);
}

[[nodiscard]] bool commit_pages(void* pages, std::size_t bytes) noexcept {
    return ::VirtualAlloc(pages, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

/// The start of the reservation that contains an address; zero: there is none.
[[nodiscard]] std::uintptr_t reservation_of(std::uintptr_t address) noexcept {
    MEMORY_BASIC_INFORMATION found{};
    if (::VirtualQuery(pointer_at(address), &found, sizeof found) == 0 || found.State == MEM_FREE) return 0;
    return address_of(found.AllocationBase);
}

/// Bytes of a reservation. Cost      a system call for each run of pages in the same state.
[[nodiscard]] std::size_t bytes_of_reservation(std::uintptr_t begin) noexcept {
    std::uintptr_t at = begin;
    MEMORY_BASIC_INFORMATION found{};
    while (::VirtualQuery(pointer_at(at), &found, sizeof found) != 0 && found.State != MEM_FREE &&
           address_of(found.AllocationBase) == begin)
        at = address_of(found.BaseAddress) + found.RegionSize;
    return at - begin;
}

void release(std::uintptr_t begin) noexcept { ::VirtualFree(pointer_at(begin), 0, MEM_RELEASE); }

}

std::size_t page_bytes() noexcept { return 4096; }

// Large pages need a right that programs do not have, and cannot be decommitted.
std::size_t huge_page_bytes() noexcept { return 0; }
bool huge_pages(void*, std::size_t) noexcept { return false; }

std::size_t address_limit_bytes() noexcept { return SIZE_MAX; }
bool are_addresses_limited() noexcept { return false; }

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
    const kept_error kept;
    return reserve_exactly(bytes, alignment);
}

/// With a large alignment, the addresses up to the next multiple are of no use to others: they are reserved as well, so
/// that the range can be extended there.
void* map(std::size_t bytes, std::size_t alignment) noexcept {
    const kept_error kept;
    if (bytes == 0 || bytes > max_object_bytes - alignment) return nullptr;
    if (alignment <= granularity) return ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    const std::size_t whole = align_up(bytes, alignment);
    void* range = reserve_exactly(whole, alignment);
    if (range == nullptr) return nullptr;
    if (whole != bytes && !counted.put({address_of(range), whole, bytes})) {
        release(address_of(range)); // no memory to record it
        range = reserve_exactly(bytes, alignment);
    }
    if (range == nullptr || commit_pages(range, bytes)) return range;
    unreserve(range, bytes);
    return nullptr;
}

bool extend(void* range, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    if (new_bytes <= old_bytes) return new_bytes == old_bytes;
    const kept_error kept;
    const auto change = [&](counted_range& found) noexcept {
        if (new_bytes > found.bytes || found.begin != address_of(range)) return false;
        if (found.used_bytes != old_bytes) return false; // a part of it was given back
        found.used_bytes = new_bytes;
        return true;
    };
    if (!counted.change(address_of(range), change)) return false;
    if (commit_pages(pointer_at(address_of(range) + old_bytes), new_bytes - old_bytes)) return true;
    (void)counted.change(address_of(range), [&](counted_range& found) noexcept {
        found.used_bytes = old_bytes;
        return true;
    });
    return false;
}

// Pages cannot be moved.
void* remap(void*, std::size_t, std::size_t, std::size_t) noexcept { return nullptr; }

void unreserve(void* range, std::size_t bytes) noexcept {
    const kept_error kept;
    const std::uintptr_t at = address_of(range), begin = reservation_of(at);
    if (begin == 0) return; // not a valid range
    bool is_counted = false;
    const auto give_back = [&](counted_range& found) noexcept {
        found.used_bytes -= std::min(bytes, found.used_bytes);
        is_counted = true;
        return found.used_bytes != 0;
    };
    if (!counted.change_or_remove(begin, give_back)) { // not recorded, or nothing is left
        const bool is_whole = is_counted || (begin == at && reservation_of(at + bytes) != begin);
        if (is_whole) return release(begin);
        const std::size_t whole = bytes_of_reservation(begin);
        // Without memory to record it, the addresses stay reserved.
        (void)counted.put({begin, whole, whole - std::min(bytes, whole)});
    }
    ::VirtualFree(range, bytes, MEM_DECOMMIT);
}

bool commit(void* pages, std::size_t bytes) noexcept {
    const kept_error kept;
    return commit_pages(pages, bytes);
}

bool prefault(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::size_t page = page_bytes();
    for (std::uintptr_t at = begin; at < end; at = align_down(at, page) + page) {
        auto* const byte = static_cast<volatile unsigned char*>(pointer_at(at));
        *byte = *byte;
    }
    return true;
}

// The memory goes back to the system, and the right to it (the commit charge) is taken again at once: users of the
// pages do not ask before they touch them. Between the two calls another process may take the last of it. That passes
// sooner than this process gives up.
bool decommit(void* pages, std::size_t bytes) noexcept {
    constexpr int max_tries = 100;
    constexpr DWORD between_tries_ms = 20;
    const kept_error kept;
    if (bytes == 0) return true;
    if (::VirtualFree(pages, bytes, MEM_DECOMMIT) == 0) return false;
    for (int tries = 0; tries < max_tries; ++tries) {
        if (commit_pages(pages, bytes)) return true;
        ::Sleep(between_tries_ms);
    }
    return false;
}

bool seal(void* pages, std::size_t bytes) noexcept {
    const kept_error kept;
    return ::VirtualFree(pages, bytes, MEM_DECOMMIT) != 0;
}

bool forbid(void* pages, std::size_t bytes) noexcept {
    const kept_error kept;
    DWORD before = 0;
    return ::VirtualProtect(pages, bytes, PAGE_NOACCESS, &before) != 0;
}

// There is no fork.
bool exclude_from_fork(void*, std::size_t) noexcept { return true; }
bool include_in_fork(void*, std::size_t) noexcept { return true; }

// A part of a mapped file cannot be cut out while it is mapped.
bool punch(void*, std::size_t) noexcept { return false; }

}
