// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/child_processes.hpp>

#include <iterator>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/imports/added_import.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

namespace {

constinit char own_path[MAX_PATH]{};

/// A process that cannot have the library runs without it.
void let_go(DWORD flags, const PROCESS_INFORMATION& started) noexcept {
    const kept_error kept;
    (void)add_import(started.hProcess, own_path);
    if ((flags & CREATE_SUSPENDED) == 0) ::ResumeThread(started.hThread);
}

BOOL __stdcall create_process_w(const wchar_t* program, wchar_t* line, SECURITY_ATTRIBUTES* process,
                                SECURITY_ATTRIBUTES* thread, BOOL inherits, DWORD flags, void* environment,
                                const wchar_t* folder, STARTUPINFOW* how, PROCESS_INFORMATION* started) noexcept {
    const BOOL is_started = ::CreateProcessW(program, line, process, thread, inherits, flags | CREATE_SUSPENDED,
                                             environment, folder, how, started);
    if (is_started != 0) let_go(flags, *started);
    return is_started;
}

BOOL __stdcall create_process_a(const char* program, char* line, SECURITY_ATTRIBUTES* process,
                                SECURITY_ATTRIBUTES* thread, BOOL inherits, DWORD flags, void* environment,
                                const char* folder, STARTUPINFOA* how, PROCESS_INFORMATION* started) noexcept {
    const BOOL is_started = ::CreateProcessA(program, line, process, thread, inherits, flags | CREATE_SUSPENDED,
                                             environment, folder, how, started);
    if (is_started != 0) let_go(flags, *started);
    return is_started;
}

}

void replace_process_starts(replacements& to) noexcept {
    wchar_t path[MAX_PATH];
    const DWORD count = ::GetModuleFileNameW(module_of(own_path), path, static_cast<DWORD>(std::size(path)));
    if (count == 0 || count == std::size(path) || !has_added_import() || !import_path(path, own_path)) return;
    const void* const wide = pointer_at(reinterpret_cast<std::uintptr_t>(&create_process_w));
    const void* const narrow = pointer_at(reinterpret_cast<std::uintptr_t>(&create_process_a));
    for (const wchar_t* const file : {L"kernel32.dll", L"kernelbase.dll"}) {
        using function = void*;
        to.add(function_of<function>(file, "CreateProcessW"), wide, replaced_in::all_modules);
        to.add(function_of<function>(file, "CreateProcessA"), narrow, replaced_in::all_modules);
    }
}

}
