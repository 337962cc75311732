// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/readable.hpp>

#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// The end of the readable pages from an address on; the address itself if it cannot be read.
[[nodiscard]] std::uintptr_t readable_end(std::uintptr_t at) noexcept {
    constexpr DWORD none = PAGE_NOACCESS | PAGE_GUARD;
    MEMORY_BASIC_INFORMATION found{};
    if (::VirtualQuery(pointer_at(at), &found, sizeof found) == 0) return at;
    if (found.State != MEM_COMMIT || (found.Protect & none) != 0 || found.Protect == PAGE_EXECUTE) return at;
    return address_of(found.BaseAddress) + found.RegionSize;
}

}

bool is_readable(const void* bytes, std::size_t count) noexcept {
    if (count == 0) return true;
    const kept_error kept;
    const std::uintptr_t last = address_of(bytes) + (count - 1);
    if (last < address_of(bytes)) return false;
    for (std::uintptr_t at = address_of(bytes); at <= last;) {
        const std::uintptr_t end = readable_end(at);
        if (end == at) return false;
        at = end;
    }
    return true;
}

bool is_object_readable(const void* object, std::size_t bytes) noexcept { return is_readable(object, bytes); }

}
