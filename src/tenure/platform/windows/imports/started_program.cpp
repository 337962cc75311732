// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/started_program.hpp>

#include <algorithm>
#include <cstring>
#include <cwchar>
#include <iterator>

#include <tenure/platform/windows/imports/added_import.hpp>
#include <tenure/platform/windows/text.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t max_line = 32'768; // the system's own limit

/// The program decides what Ctrl-C does. A handler, because a process that ignores Ctrl-C passes that on.
BOOL __stdcall leave_to_program(DWORD) noexcept { return TRUE; }

[[nodiscard]] run_result failed_run(program_run how) noexcept { return {how, 0, ::GetLastError()}; }

[[nodiscard]] program_run kind_of_failure(DWORD error) noexcept {
    const bool is_missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    return is_missing ? program_run::not_found : program_run::not_run;
}

/// A process that has not run ends here unless keep() was called.
class suspended_process {
public:
    suspended_process() noexcept = default;
    suspended_process(const suspended_process&) = delete;
    suspended_process& operator=(const suspended_process&) = delete;
    ~suspended_process() {
        const kept_error kept;
        if (is_started_ && !is_kept_) ::TerminateProcess(started_.hProcess, 1);
        if (is_started_) {
            ::CloseHandle(started_.hThread);
            ::CloseHandle(started_.hProcess);
        }
    }
    [[nodiscard]] bool start(wchar_t* line) noexcept {
        STARTUPINFOW how{};
        ::GetStartupInfoW(&how); // also the C library's descriptors
        how.lpReserved = nullptr;
        how.dwFlags |= STARTF_USESTDHANDLES;
        how.hStdInput = ::GetStdHandle(STD_INPUT_HANDLE);
        how.hStdOutput = ::GetStdHandle(STD_OUTPUT_HANDLE);
        how.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
        is_started_ = ::CreateProcessW(nullptr, line, nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr, &how,
                                       &started_) != 0;
        return is_started_;
    }
    [[nodiscard]] HANDLE process() const noexcept { return started_.hProcess; }
    [[nodiscard]] DWORD run_to_end() noexcept {
        is_kept_ = true;
        ::ResumeThread(started_.hThread);
        ::WaitForSingleObject(started_.hProcess, INFINITE);
        DWORD code = 0;
        ::GetExitCodeProcess(started_.hProcess, &code);
        return code;
    }

private:
    PROCESS_INFORMATION started_{};
    bool is_started_ = false, is_kept_ = false;
};

}

run_result run_program(std::string_view line, std::string_view library) noexcept {
    static constinit wchar_t units[max_line]{}; // one program at a time
    const int count = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, line.data(), static_cast<int>(line.size()),
                                            units, static_cast<int>(max_line - 1));
    if (count <= 0) return failed_run(program_run::not_run);
    units[count] = L'\0';
    char path[system_path::max_units];
    if (!library.empty() && !import_path(system_path(library).get(), path)) return {program_run::not_added};
    ::SetConsoleCtrlHandler(&leave_to_program, TRUE);
    suspended_process program;
    if (!program.start(units)) return failed_run(kind_of_failure(::GetLastError()));
    if (!library.empty()) {
        const added_import added = add_import(program.process(), path);
        if (added == added_import::other_machine) return {program_run::other_machine};
        if (added != added_import::ok) return failed_run(program_run::not_added);
    }
    return {program_run::ended, program.run_to_end()};
}

std::string_view file_beside_program(std::string_view name, std::span<char> path) noexcept {
    const std::string_view program = path_of_module(nullptr, path.data(), path.size());
    const std::size_t folder = program.find_last_of("\\/") + 1; // zero: no folder
    if (folder + name.size() + 1 > path.size()) return {};
    name.copy(path.data() + folder, name.size());
    path[folder + name.size()] = '\0';
    return {path.data(), folder + name.size()};
}

std::string_view words_for_error(std::uint32_t error, std::span<char> text) noexcept {
    wchar_t words[512];
    constexpr DWORD how = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    const DWORD count = ::FormatMessageW(how, nullptr, error, 0, words, static_cast<DWORD>(std::size(words)), nullptr);
    std::string_view made = to_utf8(words, count, text.data(), text.size());
    while (made.ends_with(' ') || made.ends_with('.')) made.remove_suffix(1);
    return made;
}

std::string_view argument_text(const wchar_t* argument, std::span<char> text) noexcept {
    return to_utf8(argument, std::wcslen(argument), text.data(), text.size());
}

}
