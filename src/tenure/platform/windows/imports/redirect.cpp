// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/redirect.hpp>

#include <cstdint>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/imports/child_processes.hpp>
#include <tenure/platform/windows/imports/import_tables.hpp>
#include <tenure/platform/windows/imports/replacements.hpp>
#include <tenure/platform/windows/modules.hpp>

// The loader tells of each library that it has loaded and bound, whoever has asked for it, before it runs any code of
// it (LdrRegisterDllNotification). Replacing LoadLibrary() would come after the library's own start, and would miss
// libraries that the system loads for itself.
//
// All changes happen under the loader's lock. A second lock guards the table against readers in GetProcAddress(), which
// hold it for a search alone: whoever waits for it waits for nobody who waits for the loader.

namespace tenure::inline TENURE_ABI::platform {

namespace {

struct redirect_state {
    std::span<redirected_library> c_runtimes, system;
    HMODULE own = nullptr;
    SRWLOCK lock = SRWLOCK_INIT;
    replacements by;
};
constinit redirect_state redirected{};

[[nodiscard]] const void* export_of(HMODULE module, const char* name) noexcept {
    return pointer_at(reinterpret_cast<std::uintptr_t>(::GetProcAddress(module, name)));
}

void add_replacement(const void* function, const void* replacement, replaced_in where) noexcept {
    if (function == nullptr || replacement == nullptr) return;
    ::AcquireSRWLockExclusive(&redirected.lock);
    redirected.by.add(function, replacement, where);
    ::ReleaseSRWLockExclusive(&redirected.lock);
}

void open_library(redirected_library& library, HMODULE module, replaced_in where) noexcept {
    library.module = module;
    for (const redirected_function& each : library.functions) {
        const void* const found = export_of(module, each.name);
        if (found == nullptr) continue;
        if (each.original != nullptr) each.original->store(const_cast<void*>(found), detail::memory_order::release);
        add_replacement(found, each.replacement, where);
    }
}

/// Its functions may be at other addresses when it is loaded again.
void close_library(redirected_library& library) noexcept {
    library.module = nullptr;
    for (const redirected_function& each : library.functions) {
        void* const found = each.original != nullptr ? each.original->exchange(nullptr) : nullptr;
        ::AcquireSRWLockExclusive(&redirected.lock);
        redirected.by.remove(found);
        ::ReleaseSRWLockExclusive(&redirected.lock);
    }
}

[[nodiscard]] bool is_c_runtime(const void* module) noexcept {
    for (const redirected_library& each : redirected.c_runtimes) {
        if (each.module == module) return true;
    }
    return false;
}

/// Its own functions call others of the same name through its import table: kernel32 those of kernelbase.
[[nodiscard]] bool is_system(const void* module) noexcept {
    for (const redirected_library& each : redirected.system) {
        if (each.module == module) return true;
    }
    return false;
}

void redirect_module(HMODULE module) noexcept {
    if (module == redirected.own || is_system(module)) return;
    replace_imports(module, redirected.by, is_c_runtime(module) ? replaced_in::c_runtimes : replaced_in::other_modules);
}

void redirect_all_modules() noexcept {
    for_each_module([](HMODULE module) noexcept {
        redirect_module(module);
        return true;
    });
}

FARPROC __stdcall redirected_address(HMODULE module, const char* name) noexcept {
    const FARPROC found = ::GetProcAddress(module, name);
    const auto address = reinterpret_cast<std::uintptr_t>(found);
    if (address == 0) return found;
    ::AcquireSRWLockShared(&redirected.lock);
    const std::uintptr_t replacement = redirected.by.find(address, replaced_in::other_modules);
    ::ReleaseSRWLockShared(&redirected.lock);
    return replacement != 0 ? reinterpret_cast<FARPROC>(replacement) : found;
}

/// What the loader passes, as the system documents it.
struct counted_text {
    USHORT bytes, capacity_bytes;
    const wchar_t* text;
};
struct loader_news {
    ULONG flags;
    const counted_text* path;
    const counted_text* file;
    void* module;
    ULONG image_bytes;
};
constexpr ULONG is_loaded = 1, is_unloaded = 2;

[[nodiscard]] wchar_t lower_case(wchar_t letter) noexcept {
    return letter >= L'A' && letter <= L'Z' ? static_cast<wchar_t>(letter + (L'a' - L'A')) : letter;
}
[[nodiscard]] bool is_file(const counted_text& file, const wchar_t* name) noexcept {
    const std::size_t count = file.bytes / sizeof(wchar_t);
    for (std::size_t each = 0; each < count; ++each) {
        if (lower_case(file.text[each]) != name[each]) return false; // also at the name's end
    }
    return name[count] == L'\0';
}

void __stdcall hear_of_module(ULONG what, const loader_news* news, void*) noexcept {
    const kept_error kept;
    for (redirected_library& each : redirected.c_runtimes) {
        if (what == is_unloaded && each.module == news->module) return close_library(each);
        const bool is_new = what == is_loaded && each.module == nullptr && is_file(*news->file, each.file);
        if (!is_new) continue;
        open_library(each, static_cast<HMODULE>(news->module), replaced_in::other_modules);
        return redirect_all_modules(); // libraries that use it may have been told before
    }
    if (what == is_loaded) redirect_module(static_cast<HMODULE>(news->module));
}

void follow_loader() noexcept {
    using hear = void(__stdcall*)(ULONG, const loader_news*, void*);
    using registration = LONG(__stdcall*)(ULONG, hear, void*, void**);
    const auto call = function_of<registration>(L"ntdll.dll", "LdrRegisterDllNotification");
    void* cookie = nullptr;
    if (call != nullptr) call(0, &hear_of_module, nullptr, &cookie);
}

}

void redirect(std::span<redirected_library> c_runtimes, std::span<redirected_library> system) noexcept {
    const kept_error kept;
    redirected.c_runtimes = c_runtimes;
    redirected.system = system;
    redirected.own = module_of(&redirected);
    for (const wchar_t* const file : {L"kernel32.dll", L"kernelbase.dll"}) {
        const HMODULE module = ::GetModuleHandleW(file);
        if (module == nullptr) continue;
        const void* const replacement = pointer_at(reinterpret_cast<std::uintptr_t>(&redirected_address));
        add_replacement(export_of(module, "GetProcAddress"), replacement, replaced_in::other_modules);
    }
    replace_process_starts(redirected.by); // nobody reads it yet
    for (redirected_library& each : system) {
        const HMODULE module = ::GetModuleHandleW(each.file);
        if (module != nullptr) open_library(each, module, replaced_in::c_runtimes);
    }
    for (redirected_library& each : c_runtimes) {
        const HMODULE module = ::GetModuleHandleW(each.file);
        if (module != nullptr) open_library(each, module, replaced_in::other_modules);
    }
    follow_loader();
    redirect_all_modules();
}

}
