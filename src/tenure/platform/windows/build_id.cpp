// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/build_id.hpp>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/platform/readable.hpp>
#include <tenure/platform/windows/modules.hpp>

namespace tenure::inline TENURE_ABI::platform {

// The record by which debuggers find the symbols of a module (CodeView): "RSDS", 16 bytes, a counter. Linkers write it
// with --build-id and /DEBUG.
build_id build_id_at(std::uintptr_t begin) noexcept {
    constexpr std::size_t header_bytes = 4096;
    constexpr char mark[4] = {'R', 'S', 'D', 'S'};
    build_id found;
    if (begin == 0 || !is_readable(pointer_at(begin), header_bytes)) return found;
    const IMAGE_NT_HEADERS64* const headers = headers_of(reinterpret_cast<HMODULE>(begin));
    if (headers == nullptr || address_of(headers + 1) > begin + header_bytes) return found;
    const IMAGE_DATA_DIRECTORY& place = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_DEBUG];
    const auto* entry = static_cast<const IMAGE_DEBUG_DIRECTORY*>(pointer_at(begin + place.VirtualAddress));
    if (place.VirtualAddress == 0 || !is_readable(entry, place.Size)) return found;
    for (std::size_t left = place.Size / sizeof *entry; left != 0; --left, ++entry) {
        constexpr std::size_t id_bytes = 20;
        const void* const record = pointer_at(begin + entry->AddressOfRawData);
        if (entry->Type != IMAGE_DEBUG_TYPE_CODEVIEW || entry->SizeOfData < sizeof mark + id_bytes) continue;
        if (!is_readable(record, sizeof mark + id_bytes) || std::memcmp(record, mark, sizeof mark) != 0) continue;
        found.count = id_bytes;
        std::memcpy(found.bytes, static_cast<const char*>(record) + sizeof mark, id_bytes);
        break;
    }
    return found;
}

}
