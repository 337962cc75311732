// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/text.hpp>

#include <cerrno>
#include <cstdlib>

namespace tenure::inline TENURE_ABI::platform {

system_path::system_path(std::string_view text) noexcept {
    units_[0] = L'\0';
    constexpr int most = static_cast<int>(max_units) - 1;
    if (text.empty() || text.size() > max_units) return;
    const auto bytes = static_cast<int>(text.size());
    int units = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, units_, most);
    if (units == 0) units = ::MultiByteToWideChar(CP_ACP, 0, text.data(), bytes, units_, most);
    units_[units] = L'\0';
}

std::string_view to_utf8(const wchar_t* text, std::size_t units, char* buffer, std::size_t capacity) noexcept {
    const int bytes = ::WideCharToMultiByte(CP_UTF8, 0, text, static_cast<int>(units), buffer,
                                            static_cast<int>(capacity), nullptr, nullptr);
    return {buffer, static_cast<std::size_t>(bytes)};
}

std::string_view path_of_module(HMODULE module, char* buffer, std::size_t capacity) noexcept {
    wchar_t path[1024];
    const DWORD units = ::GetModuleFileNameW(module, path, 1024);
    return to_utf8(path, units < 1024 ? units : 0, buffer, capacity);
}

void set_errno_for(DWORD error) noexcept {
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH: errno = ENOENT; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT: errno = EACCES; break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_INVALID_ADDRESS:
    case ERROR_COMMITMENT_LIMIT: errno = ENOMEM; break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: errno = ENOSPC; break;
    case ERROR_FILENAME_EXCED_RANGE: errno = ENAMETOOLONG; break;
    default: errno = EIO;
    }
}

}
