// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// The program and the libraries that are loaded.

#include <tenure/platform/windows/system.hpp>

#include <psapi.h>

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Calls `visit(module)` for each module, the program first, until it returns false.
template<class Visit>
void for_each_module(Visit&& visit) noexcept {
    const kept_error kept;
    HMODULE modules[512]; // further ones are not seen
    DWORD bytes = 0;
    if (::EnumProcessModules(::GetCurrentProcess(), modules, sizeof modules, &bytes) == 0) return;
    const std::size_t count = bytes / sizeof(HMODULE);
    for (std::size_t index = 0; index < count && index < sizeof modules / sizeof modules[0]; ++index) {
        if (!visit(modules[index])) return;
    }
}

[[nodiscard]] inline const IMAGE_NT_HEADERS64* headers_of(HMODULE module) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(module);
    const auto* const dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(begin);
    if (dos->e_magic != IMAGE_DOS_SIGNATURE) return nullptr;
    const auto* const found =
        reinterpret_cast<const IMAGE_NT_HEADERS64*>(begin + static_cast<std::uintptr_t>(dos->e_lfanew));
    return found->Signature == IMAGE_NT_SIGNATURE ? found : nullptr;
}

/// They are one after another: FileHeader.NumberOfSections.
[[nodiscard]] inline const IMAGE_SECTION_HEADER* first_section(const IMAGE_NT_HEADERS64& headers) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(&headers.OptionalHeader);
    return reinterpret_cast<const IMAGE_SECTION_HEADER*>(begin + headers.FileHeader.SizeOfOptionalHeader);
}

}
