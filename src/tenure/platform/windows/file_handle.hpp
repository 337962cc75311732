// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Files as numbers: a handle of the system has 32 bits that count.

#include <cstdint>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/platform/windows/system.hpp>
#include <tenure/platform/windows/text.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// -1: no file.
[[nodiscard]] inline int number_of_file(HANDLE file) noexcept {
    return file == INVALID_HANDLE_VALUE || file == nullptr ? -1
                                                           : static_cast<int>(reinterpret_cast<std::intptr_t>(file));
}
[[nodiscard]] inline HANDLE file_of_number(int number) noexcept {
    return reinterpret_cast<HANDLE>(std::intptr_t{number});
}

constexpr DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Maps a part of a file for reading and writing, at the address or, if that is nullptr, anywhere. Extends the file.
/// Returns   nullptr on failure. Requires  the offset is a multiple of 64 KiB.
[[nodiscard]] inline void* map_part(HANDLE file, std::uint64_t offset, std::size_t bytes, void* at) noexcept {
    const std::uint64_t end = offset + bytes;
    const HANDLE section = ::CreateFileMappingW(file, nullptr, PAGE_READWRITE, static_cast<DWORD>(end >> 32),
                                                static_cast<DWORD>(end), nullptr);
    if (section == nullptr) return nullptr;
    void* const view = ::MapViewOfFileEx(section, FILE_MAP_ALL_ACCESS, static_cast<DWORD>(offset >> 32),
                                         static_cast<DWORD>(offset), bytes, at);
    const kept_error kept;
    ::CloseHandle(section); // the view keeps it
    return view;
}

}
