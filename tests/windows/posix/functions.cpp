// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "names.hpp"

#include <sys/mman.h>
#include <windows.h>

#include <psapi.h>

#include <cerrno>
#include <csignal>

namespace {

void (*on_fault)(int) = nullptr;

LONG __stdcall handle(EXCEPTION_POINTERS* information) {
    const bool is_ours =
        information->ExceptionRecord->ExceptionCode == EXCEPTION_ACCESS_VIOLATION && on_fault != nullptr;
    if (is_ours) on_fault(SIGSEGV);
    return is_ours ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

DWORD protection_of(int protection) {
    return protection == PROT_NONE ? PAGE_NOACCESS : (protection & PROT_WRITE) != 0 ? PAGE_READWRITE : PAGE_READONLY;
}

int answer(bool is_done, int error) {
    if (!is_done) errno = error;
    return is_done ? 0 : -1;
}

}

void* mmap(void* wanted, std::size_t bytes, int protection, int flags, int, long long) {
    const DWORD how = protection == PROT_NONE ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT;
    void* mapped = ::VirtualAlloc(wanted, bytes, how, protection_of(protection));
    if (mapped == nullptr && (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) == 0)
        mapped = ::VirtualAlloc(nullptr, bytes, how, protection_of(protection));
    if (mapped == nullptr) errno = ENOMEM;
    return mapped != nullptr ? mapped : MAP_FAILED;
}

int munmap(void* begin, std::size_t bytes) {
    MEMORY_BASIC_INFORMATION found{};
    ::VirtualQuery(begin, &found, sizeof found);
    const bool is_whole = found.AllocationBase == begin && found.RegionSize <= ((bytes + 4095) & ~std::size_t{4095});
    if (is_whole) return answer(::VirtualFree(begin, 0, MEM_RELEASE) != 0, EINVAL);
    return answer(::VirtualFree(begin, bytes, MEM_DECOMMIT) != 0, EINVAL);
}

int mprotect(void* begin, std::size_t bytes, int protection) {
    DWORD before = 0;
    if (protection != PROT_NONE && ::VirtualAlloc(begin, bytes, MEM_COMMIT, protection_of(protection)) == nullptr)
        return answer(false, ENOMEM);
    return answer(::VirtualProtect(begin, bytes, protection_of(protection), &before) != 0, EINVAL);
}

int mincore(void* begin, std::size_t bytes, unsigned char* states) {
    for (std::size_t each = 0; each * 4096 < bytes; ++each) {
        PSAPI_WORKING_SET_EX_INFORMATION page{static_cast<char*>(begin) + each * 4096, {0}};
        if (::QueryWorkingSetEx(::GetCurrentProcess(), &page, sizeof page) == 0) return answer(false, ENOMEM);
        states[each] = page.VirtualAttributes.Valid != 0 ? 1 : 0;
    }
    return 0;
}

int mlock(const void* begin, std::size_t bytes) {
    return answer(::VirtualLock(const_cast<void*>(begin), bytes) != 0, ENOMEM);
}
int munlock(const void* begin, std::size_t bytes) {
    return answer(::VirtualUnlock(const_cast<void*>(begin), bytes) != 0, ENOMEM);
}

int sigaction(int number, const struct sigaction* wanted, struct sigaction* before) {
    static void* const installed = ::AddVectoredExceptionHandler(1, &handle);
    if (before != nullptr) *before = {on_fault, 0};
    if (wanted != nullptr) on_fault = wanted->sa_handler;
    return answer(installed != nullptr && number == SIGSEGV, EINVAL);
}
