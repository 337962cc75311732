// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

#include <tenure/base/align.hpp>
#include <tenure/base/report.hpp>
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

void write_stack(void* const* frames, std::size_t count) noexcept {
    for (std::size_t index = 0; index < count; ++index) {
        report_text line;
        line.text("    #").number(index).text(" ").address(frames[index]);
        Dl_info info{};
        if (::dladdr(frames[index], &info) != 0) {
            if (info.dli_sname != nullptr) {
                line.text(" ").text(info.dli_sname).text("+");
                line.number(address_of(frames[index]) - address_of(info.dli_saddr));
            }
            if (info.dli_fname != nullptr) {
                line.text(" (").text(info.dli_fname).text("+");
                line.address(pointer_at(address_of(frames[index]) - address_of(info.dli_fbase))).text(")");
            }
        }
        write_report(line.text("\n").view());
    }
}

}
