// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/heap/detail/checked/record_memory.hpp>

#include <tenure/base/align.hpp>
#include <tenure/heap/detail/checked/mitigations.hpp>
#include <tenure/platform/memory.hpp>

namespace tenure::inline TENURE_ABI::detail {

namespace {

[[nodiscard]] std::size_t guard_page() noexcept { return checks::caller ? platform::page_bytes() : 0; }
[[nodiscard]] std::size_t rounded(std::size_t bytes) noexcept { return align_up(bytes, platform::page_bytes()); }

}

void* map_records(std::size_t bytes) noexcept {
    const std::size_t guard = guard_page();
    void* const memory = platform::map(rounded(bytes) + 2 * guard, cache_line_bytes);
    if (!checks::caller || memory == nullptr) return memory;
    const std::uintptr_t begin = address_of(memory) + guard;
    if (has(mitigations_on(), mitigation::records)) {
        // If the system refuses, the records are usable without guards.
        (void)platform::seal(memory, guard);
        (void)platform::seal(pointer_at(begin + rounded(bytes)), guard);
    }
    return pointer_at(begin);
}

void unmap_records(void* records, std::size_t bytes) noexcept {
    const std::size_t guard = guard_page();
    platform::unreserve(pointer_at(address_of(records) - guard), rounded(bytes) + 2 * guard);
}

}
