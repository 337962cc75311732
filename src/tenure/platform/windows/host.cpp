// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <stdlib.h>

#include <cstring>

#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::host {

void write_report(std::string_view text) noexcept {
    const platform::kept_error kept;
    const HANDLE file = ::GetStdHandle(STD_ERROR_HANDLE);
    if (file == nullptr || file == INVALID_HANDLE_VALUE) return;
    while (!text.empty()) {
        DWORD written = 0;
        if (::WriteFile(file, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) == 0 || written == 0)
            return;
        text.remove_prefix(written);
    }
}

// The C library's environment, which a program changes with _putenv_s(). Its functions change the system's, too.

bool has_environment() noexcept { return _environ != nullptr; }

bool has_environment(std::string_view prefix) noexcept { return environment_entry(prefix, 0) != nullptr; }

const char* environment_entry(std::string_view prefix, std::size_t index) noexcept {
    if (_environ == nullptr) return nullptr;
    for (char** each = _environ; *each != nullptr; ++each) {
        if (std::strncmp(*each, prefix.data(), prefix.size()) == 0 && index-- == 0) return *each;
    }
    return nullptr;
}

const char* environment(const char* name) noexcept { return ::getenv(name); }

}
