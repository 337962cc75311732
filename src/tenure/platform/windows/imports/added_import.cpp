// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/windows/imports/added_import.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

#include <tenure/base/align.hpp>
#include <tenure/platform/windows/modules.hpp>

// What is written behind the program, within the 4 GiB that its headers can name:
//
//   descriptor of the library | descriptors of the program | null | names table | address table | path of the library
//
// The program's own tables stay where they are.

namespace tenure::inline TENURE_ABI::platform {

namespace {

constexpr std::size_t max_descriptors = 1024;
constexpr std::uintptr_t granularity = std::uintptr_t{64} * 1024;

template<class T>
[[nodiscard]] bool read_from(HANDLE process, std::uintptr_t at, T& into) noexcept {
    SIZE_T bytes = 0;
    return ::ReadProcessMemory(process, pointer_at(at), &into, sizeof into, &bytes) != 0 && bytes == sizeof into;
}
[[nodiscard]] bool write_to_process(HANDLE process, std::uintptr_t at, const void* from, std::size_t count) noexcept {
    SIZE_T bytes = 0;
    return ::WriteProcessMemory(process, pointer_at(at), from, count, &bytes) != 0 && bytes == count;
}

/// Where the program begins in a process; zero if the system does not say it.
[[nodiscard]] std::uintptr_t program_in(HANDLE process) noexcept {
    struct basic_information {
        void* reserved;
        std::uintptr_t environment_block; // PEB
        void* others[4];
    };
    constexpr std::uintptr_t place_of_program = 0x10;
    using query = LONG(__stdcall*)(HANDLE, int, void*, ULONG, ULONG*);
    const auto ask = function_of<query>(L"ntdll.dll", "NtQueryInformationProcess");
    basic_information found{};
    std::uintptr_t program = 0;
    if (ask == nullptr || ask(process, 0, &found, sizeof found, nullptr) < 0) return 0;
    return read_from(process, found.environment_block + place_of_program, program) ? program : 0;
}

struct program_headers {
    std::uintptr_t program = 0;
    std::uintptr_t at = 0; ///< of the headers below
    IMAGE_NT_HEADERS64 headers{};

    [[nodiscard]] IMAGE_DATA_DIRECTORY& directory(unsigned index) noexcept {
        return headers.OptionalHeader.DataDirectory[index];
    }
};

[[nodiscard]] added_import read_headers(HANDLE process, program_headers& found) noexcept {
    IMAGE_DOS_HEADER dos{};
    found.program = program_in(process);
    if (found.program == 0 || !read_from(process, found.program, dos)) return added_import::refused;
    found.at = found.program + static_cast<std::uintptr_t>(dos.e_lfanew);
    if (!read_from(process, found.at, found.headers)) return added_import::refused;
    const bool is_for_us = dos.e_magic == IMAGE_DOS_SIGNATURE && found.headers.Signature == IMAGE_NT_SIGNATURE &&
                           found.headers.FileHeader.Machine == IMAGE_FILE_MACHINE_AMD64 &&
                           found.headers.OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR64_MAGIC;
    return is_for_us ? added_import::ok : added_import::other_machine;
}

/// Memory behind the program that its headers can name; zero if there is none.
[[nodiscard]] std::uintptr_t memory_behind(HANDLE process, const program_headers& of, std::size_t bytes) noexcept {
    constexpr std::uintptr_t nameable = UINT32_MAX;
    std::uintptr_t at = align_up(of.program + of.headers.OptionalHeader.SizeOfImage, granularity);
    while (at - of.program < nameable - bytes) {
        MEMORY_BASIC_INFORMATION found{};
        if (::VirtualQueryEx(process, pointer_at(at), &found, sizeof found) == 0) return 0;
        const std::uintptr_t end = address_of(found.BaseAddress) + found.RegionSize;
        if (found.State == MEM_FREE && end - at >= bytes) {
            void* const taken =
                ::VirtualAllocEx(process, pointer_at(at), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
            if (taken != nullptr) return address_of(taken);
        }
        at = align_up(std::max(end, at + 1), granularity);
    }
    return 0;
}

struct new_tables {
    IMAGE_IMPORT_DESCRIPTOR descriptors[max_descriptors];
    std::size_t count = 0; ///< with the added one and the null at the end
};

/// The program's own descriptors, behind a place for the new one.
[[nodiscard]] bool read_descriptors(HANDLE process, program_headers& of, new_tables& tables) noexcept {
    const std::uintptr_t offset = of.directory(IMAGE_DIRECTORY_ENTRY_IMPORT).VirtualAddress;
    tables.count = 1;
    for (std::uintptr_t at = of.program + offset; offset != 0; at += sizeof(IMAGE_IMPORT_DESCRIPTOR)) {
        if (tables.count + 1 == max_descriptors) return false;
        IMAGE_IMPORT_DESCRIPTOR& each = tables.descriptors[tables.count];
        if (!read_from(process, at, each)) return false;
        if (each.Name == 0) break;
        ++tables.count;
    }
    tables.descriptors[tables.count++] = {};
    return true;
}

[[nodiscard]] bool write_headers(HANDLE process, const program_headers& to) noexcept {
    DWORD before = 0;
    if (::VirtualProtectEx(process, pointer_at(to.at), sizeof to.headers, PAGE_READWRITE, &before) == 0) return false;
    const bool is_written = write_to_process(process, to.at, &to.headers, sizeof to.headers);
    ::VirtualProtectEx(process, pointer_at(to.at), sizeof to.headers, before, &before);
    return is_written;
}

}

added_import add_import(HANDLE process, const char* library) noexcept {
    static constinit new_tables tables{}; // too large for a stack
    static constinit SRWLOCK lock = SRWLOCK_INIT;
    program_headers of{};
    if (const added_import read = read_headers(process, of); read != added_import::ok) return read;
    ::AcquireSRWLockExclusive(&lock);
    struct unlock {
        ~unlock() { ::ReleaseSRWLockExclusive(&lock); }
    } const at_end;
    if (!read_descriptors(process, of, tables)) return added_import::refused;
    const std::size_t path_bytes = std::strlen(library) + 1;
    const std::size_t descriptor_bytes = tables.count * sizeof(IMAGE_IMPORT_DESCRIPTOR);
    constexpr std::uint64_t thunks[4] = {IMAGE_ORDINAL_FLAG64 | 1, 0, IMAGE_ORDINAL_FLAG64 | 1, 0};
    const std::size_t thunks_at = align_up(descriptor_bytes, sizeof(std::uint64_t));
    const std::size_t path_at = thunks_at + sizeof thunks;
    const std::uintptr_t memory = memory_behind(process, of, path_at + path_bytes);
    if (memory == 0) return added_import::refused;
    const auto offset = static_cast<DWORD>(memory - of.program);
    IMAGE_IMPORT_DESCRIPTOR& added = tables.descriptors[0];
    added = {};
    added.OriginalFirstThunk = offset + static_cast<DWORD>(thunks_at);
    added.FirstThunk = offset + static_cast<DWORD>(thunks_at + sizeof thunks / 2);
    added.Name = offset + static_cast<DWORD>(path_at);
    const bool is_written = write_to_process(process, memory, tables.descriptors, descriptor_bytes) &&
                            write_to_process(process, memory + thunks_at, thunks, sizeof thunks) &&
                            write_to_process(process, memory + path_at, library, path_bytes);
    if (!is_written) return added_import::refused;
    of.directory(IMAGE_DIRECTORY_ENTRY_IMPORT) = {offset, static_cast<DWORD>(descriptor_bytes)};
    of.directory(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT) = {}; // it lists the libraries as they were
    // The loader writes to the table that this names; without one, to those of the descriptors.
    IMAGE_DATA_DIRECTORY& addresses = of.directory(IMAGE_DIRECTORY_ENTRY_IAT);
    if (addresses.VirtualAddress == 0) addresses = {offset, static_cast<DWORD>(descriptor_bytes)};
    return write_headers(process, of) ? added_import::ok : added_import::refused;
}

bool has_added_import() noexcept {
    const IMAGE_NT_HEADERS64* const headers = headers_of(::GetModuleHandleW(nullptr));
    if (headers == nullptr) return false;
    const IMAGE_OPTIONAL_HEADER64& optional = headers->OptionalHeader;
    return optional.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress >= optional.SizeOfImage;
}

bool import_path(const wchar_t* file, std::span<char> path) noexcept {
    const auto convert = [&](const wchar_t* name) noexcept {
        BOOL has_lost = FALSE;
        const int count = ::WideCharToMultiByte(CP_ACP, WC_NO_BEST_FIT_CHARS, name, -1, path.data(),
                                                static_cast<int>(path.size()), nullptr, &has_lost);
        return count > 0 && has_lost == FALSE;
    };
    if (convert(file)) return true;
    wchar_t name[MAX_PATH];
    const DWORD count = ::GetShortPathNameW(file, name, static_cast<DWORD>(std::size(name)));
    return count != 0 && count < std::size(name) && convert(name);
}

}
