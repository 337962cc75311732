// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/program.hpp>

#include <tenure/base/host.hpp>
#include <tenure/platform/windows/file_handle.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::string_view program_name() noexcept {
    static char path[1024];
    std::string_view name = path_of_module(nullptr, path, sizeof path);
    const std::size_t slash = name.find_last_of("\\/");
    if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
    return name;
}

std::uint64_t process_id() noexcept { return ::GetCurrentProcessId(); }

kept_file copy_of_standard_error() noexcept {
    const kept_error kept;
    const HANDLE process = ::GetCurrentProcess();
    HANDLE copy = nullptr;
    kept_file made;
    const HANDLE file = ::GetStdHandle(STD_ERROR_HANDLE);
    if (file == nullptr || file == INVALID_HANDLE_VALUE) return made;
    if (::DuplicateHandle(process, file, process, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0) return made;
    made.number = number_of_file(copy);
    return made;
}

// A copied handle is closed by nobody else: programs close the ones that they know.
bool is_still_open(const kept_file& file) noexcept { return file.number != -1; }

void close_copy(kept_file& file) noexcept {
    const kept_error kept;
    if (is_still_open(file)) ::CloseHandle(file_of_number(file.number));
    file.number = -1;
}

void write_to(const kept_file& file, std::string_view text) noexcept {
    if (!is_still_open(file)) return;
    const kept_error kept;
    while (!text.empty()) {
        DWORD written = 0;
        const auto wanted = static_cast<DWORD>(text.size());
        if (::WriteFile(file_of_number(file.number), text.data(), wanted, &written, nullptr) == 0 || written == 0)
            return;
        text.remove_prefix(written);
    }
}

bool on_signal(int, void (*)() noexcept) noexcept { return false; } // the system sends none

}
