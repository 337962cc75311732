// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/file_map.hpp>

#include <cerrno>
#include <string_view>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/file_handle.hpp>
#include <tenure/platform/windows/range_table.hpp>

// A file without a name is deleted when its handle is closed, which the system refuses while a part of it is mapped. So
// the handle stays open with the mapping.

namespace tenure::inline TENURE_ABI::platform {

namespace {

constinit range_table kept_files{}; ///< by mapping; `bytes` is the handle

[[nodiscard]] HANDLE open_nameless() noexcept {
    wchar_t folder[MAX_PATH + 2], path[MAX_PATH + 2];
    if (::GetTempPathW(MAX_PATH, folder) == 0 || ::GetTempFileNameW(folder, L"tnr", 0, path) == 0)
        return INVALID_HANDLE_VALUE;
    constexpr DWORD how = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
    return ::CreateFileW(path, GENERIC_READ | GENERIC_WRITE, share_all, nullptr, CREATE_ALWAYS, how, nullptr);
}

[[nodiscard]] bool set_file_bytes(HANDLE file, std::uint64_t bytes) noexcept {
    LARGE_INTEGER end{};
    end.QuadPart = static_cast<LONGLONG>(bytes);
    return ::SetFilePointerEx(file, end, nullptr, FILE_BEGIN) != 0 && ::SetEndOfFile(file) != 0;
}

[[nodiscard]] bool get_file_bytes(HANDLE file, std::uint64_t& bytes) noexcept {
    LARGE_INTEGER found{};
    const bool is_found = ::GetFileSizeEx(file, &found) != 0;
    bytes = static_cast<std::uint64_t>(found.QuadPart);
    return is_found;
}

/// Whether `path` names the open file.
[[nodiscard]] bool leads_to(const wchar_t* path, HANDLE file) noexcept {
    const HANDLE named = ::CreateFileW(path, 0, share_all, nullptr, OPEN_EXISTING, 0, nullptr);
    if (named == INVALID_HANDLE_VALUE) return false;
    BY_HANDLE_FILE_INFORMATION left{}, right{};
    const bool is_known =
        ::GetFileInformationByHandle(named, &left) != 0 && ::GetFileInformationByHandle(file, &right) != 0;
    ::CloseHandle(named);
    return is_known && left.dwVolumeSerialNumber == right.dwVolumeSerialNumber &&
           left.nFileIndexHigh == right.nFileIndexHigh && left.nFileIndexLow == right.nFileIndexLow;
}

}

bool mapped_file::open() noexcept {
    HANDLE file = INVALID_HANDLE_VALUE;
    if (path_ == nullptr) {
        file = open_nameless();
    } else {
        constexpr DWORD rights = GENERIC_READ | GENERIC_WRITE; // with DELETE, most programs could not open it
        const system_path path(path_);
        file = ::CreateFileW(path.get(), rights, share_all, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
        if (file == INVALID_HANDLE_VALUE && ::GetLastError() == ERROR_FILE_NOT_FOUND) {
            file = ::CreateFileW(path.get(), rights, share_all, nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
            is_new_ = file != INVALID_HANDLE_VALUE && ::GetLastError() != ERROR_ALREADY_EXISTS;
        }
    }
    file_ = number_of_file(file);
    return file_ != -1;
}

bool mapped_file::make_room() noexcept {
    const HANDLE file = file_of_number(file_);
    if (::GetFileType(file) != FILE_TYPE_DISK) {
        ::SetLastError(ERROR_INVALID_NAME); // a device, which cannot be mapped
        return false;
    }
    if (!get_file_bytes(file, former_bytes_)) return false;
    is_longer_ = former_bytes_ < bytes_ && set_file_bytes(file, bytes_);
    return former_bytes_ >= bytes_ || is_longer_;
}

mapped_file::mapped_file(const char* path, std::size_t bytes) noexcept : path_(path), bytes_(bytes) {
    if (bytes > max_object_bytes) {
        why_ = status::out_of_memory;
        errno = ENOMEM;
        return;
    }
    if (bytes == 0) return;
    if (!open() || !make_room()) {
        set_errno_for(::GetLastError());
        return;
    }
    memory_ = map_part(file_of_number(file_), 0, bytes, nullptr);
    if (memory_ != nullptr) {
        why_ = status::ok;
        return;
    }
    set_errno_for(::GetLastError());
    if (errno == ENOMEM) why_ = status::out_of_memory; // other errors concern the file
}

mapped_file::~mapped_file() {
    if (file_ == -1) return;
    const int said = errno;
    const HANDLE file = file_of_number(file_);
    if (is_kept_ && path_ == nullptr &&
        kept_files.put({address_of(memory_), static_cast<std::size_t>(static_cast<unsigned>(file_)), 0})) {
        errno = said;
        return;
    }
    if (!is_kept_) {
        if (memory_ != nullptr) unmap_file(memory_, bytes_);
        std::uint64_t bytes = 0;
        const bool is_known = get_file_bytes(file, bytes);
        // Do not remove a file that another process has put in its place, nor shrink one that another has extended.
        if (is_longer_ && is_known && bytes == bytes_) is_longer_ = !set_file_bytes(file, former_bytes_);
        if (is_new_ && path_ != nullptr) {
            const system_path path(path_);
            if (leads_to(path.get(), file)) ::DeleteFileW(path.get());
        }
    }
    ::CloseHandle(file);
    errno = said;
}

void unmap_file(void* memory, std::size_t) noexcept {
    const kept_error kept;
    HANDLE file = nullptr;
    (void)kept_files.change_or_remove(address_of(memory), [&](const counted_range& found) noexcept {
        file = file_of_number(static_cast<int>(found.bytes));
        return false;
    });
    ::UnmapViewOfFile(memory);
    if (file != nullptr) ::CloseHandle(file);
}

}
