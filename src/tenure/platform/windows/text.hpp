// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Text of the system, which is UTF-16, and of the library, which is UTF-8.

#include <cstddef>
#include <string_view>

#include <tenure/base/config.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// A path for the system. The text is UTF-8; where it is not, it is taken as of the code page of the process, as the C
/// library passes arguments and environment.
class system_path {
public:
    static constexpr std::size_t max_units = 4096;

    explicit system_path(std::string_view text) noexcept;

    /// Empty if the text was no path.
    [[nodiscard]] const wchar_t* get() const noexcept { return units_; }
    [[nodiscard]] bool is_empty() const noexcept { return units_[0] == L'\0'; }

private:
    wchar_t units_[max_units];
};

/// Writes the text as UTF-8, up to the capacity. Returns   what was written; empty if it does not fit.
[[nodiscard]] std::string_view to_utf8(const wchar_t* text, std::size_t units, char* buffer,
                                       std::size_t capacity) noexcept;

/// The path of a module's file.
[[nodiscard]] std::string_view path_of_module(HMODULE module, char* buffer, std::size_t capacity) noexcept;

/// Sets errno for an error of the system.
void set_errno_for(DWORD error) noexcept;

}
