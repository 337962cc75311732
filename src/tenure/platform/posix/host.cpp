// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <unistd.h>

#include <cstring>

#include <tenure/platform/no_cancel.hpp>

namespace tenure::inline TENURE_ABI::host {

void write_report(std::string_view text) noexcept {
    const platform::no_cancel_scope scope;
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool has_environment() noexcept { return ::environ != nullptr; }

bool has_environment(std::string_view prefix) noexcept {
    if (::environ == nullptr) return false;
    for (char** each = ::environ; *each != nullptr; ++each) {
        if (**each == prefix[0] && std::strncmp(*each, prefix.data(), prefix.size()) == 0) return true;
    }
    return false;
}

const char* environment_entry(std::string_view prefix, std::size_t index) noexcept {
    if (::environ == nullptr) return nullptr;
    for (char** each = ::environ; *each != nullptr; ++each) {
        if (std::strncmp(*each, prefix.data(), prefix.size()) == 0 && index-- == 0) return *each;
    }
    return nullptr;
}

}
