// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/output_file.hpp>

#include <algorithm>

#include <tenure/platform/windows/file_handle.hpp>
#include <tenure/platform/windows/mappings.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::string_view unfinished = ".part";

[[nodiscard]] bool is_other_than_file(const wchar_t* path) noexcept {
    const DWORD kind = ::GetFileAttributesW(path);
    return kind != INVALID_FILE_ATTRIBUTES && (kind & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE)) != 0;
}

}

output_file::output_file(std::string_view path) noexcept {
    if (path.empty() || path.size() + unfinished.size() >= sizeof path_) return;
    *std::copy(path.begin(), path.end(), name_) = '\0';
    char* const end = std::copy(path.begin(), path.end(), path_);
    *std::copy(unfinished.begin(), unfinished.end(), end) = '\0';
    const kept_error kept;
    if (is_other_than_file(system_path(name_).get())) return;
    const system_path part(path_);
    ::DeleteFileW(part.get()); // a leftover of an interrupted attempt
    const HANDLE file =
        ::CreateFileW(part.get(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
    file_ = number_of_file(file);
    is_sound_ = file_ != -1 && ::GetFileType(file) == FILE_TYPE_DISK; // "NUL" is a device in every folder
}

output_file::~output_file() {
    if (file_ == -1) return;
    const kept_error kept;
    ::CloseHandle(file_of_number(file_));
    ::DeleteFileW(system_path(path_).get());
}

void output_file::write(const void* data, std::size_t bytes) noexcept {
    constexpr std::size_t at_a_time = std::size_t{1} << 30;
    const kept_error kept;
    const auto* from = static_cast<const char*>(data);
    while (is_sound_ && bytes != 0) {
        DWORD written = 0;
        const auto wanted = static_cast<DWORD>(std::min(bytes, at_a_time));
        is_sound_ = ::WriteFile(file_of_number(file_), from, wanted, &written, nullptr) != 0 && written != 0;
        from += written;
        bytes -= written;
    }
}

bool output_file::finish() noexcept {
    if (!is_sound_) return false;
    const kept_error kept;
    const bool is_closed = ::CloseHandle(file_of_number(file_)) != 0;
    file_ = -1;
    const system_path part(path_);
    const bool is_named =
        is_closed && ::MoveFileExW(part.get(), system_path(name_).get(), MOVEFILE_REPLACE_EXISTING) != 0;
    if (!is_named) ::DeleteFileW(part.get());
    return is_named;
}

bool read_in_parts(const char* path, char* buffer, std::size_t capacity,
                   void (*visit)(void* context, std::string_view part) noexcept, void* context,
                   std::size_t max_bytes) noexcept {
    const kept_error kept;
    if (is_made_file(path)) return read_made_file(path, buffer, capacity, visit, context, max_bytes);
    const HANDLE file =
        ::CreateFileW(system_path(path).get(), GENERIC_READ, share_all, nullptr, OPEN_EXISTING, 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) return false;
    bool is_whole = false;
    for (;;) {
        DWORD count = 0;
        const auto wanted = static_cast<DWORD>(std::min(capacity, std::size_t{1} << 30));
        if (::ReadFile(file, buffer, wanted, &count, nullptr) == 0) break;
        is_whole = count == 0;
        if (is_whole || count > max_bytes) break;
        max_bytes -= count;
        visit(context, {buffer, count});
    }
    ::CloseHandle(file);
    return is_whole;
}

std::uint64_t unix_ms() noexcept {
    constexpr std::uint64_t units_per_ms = 10'000, ms_before_1970 = 11'644'473'600'000; // since 1601
    FILETIME now{};
    ::GetSystemTimeAsFileTime(&now);
    return (std::uint64_t{now.dwHighDateTime} << 32 | now.dwLowDateTime) / units_per_ms - ms_before_1970;
}

}
