// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/pressure.hpp>

#include <atomic>

#include <tenure/platform/windows/system.hpp>

#include <psapi.h>

namespace tenure::inline TENURE_ABI::platform {

namespace {

/// Whether less than a tenth of the limit of the process's job object is left: a container has one.
[[nodiscard]] bool is_near_job_limit() noexcept {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
    if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr) == 0)
        return false;
    constexpr DWORD of_process = JOB_OBJECT_LIMIT_PROCESS_MEMORY, of_job = JOB_OBJECT_LIMIT_JOB_MEMORY;
    SIZE_T limit = 0;
    const DWORD flags = job.BasicLimitInformation.LimitFlags;
    if ((flags & of_process) != 0) limit = job.ProcessMemoryLimit;
    if ((flags & of_job) != 0 && (limit == 0 || job.JobMemoryLimit < limit)) limit = job.JobMemoryLimit;
    if (limit == 0) return false;
    PROCESS_MEMORY_COUNTERS used{};
    used.cb = sizeof used;
    return ::GetProcessMemoryInfo(::GetCurrentProcess(), &used, sizeof used) != 0 &&
           used.PagefileUsage >= limit - limit / 10;
}

/// Whether the machine has less than a tenth of its memory, or of what it can promise to processes.
[[nodiscard]] bool is_machine_short() noexcept {
    MEMORYSTATUSEX machine{};
    machine.dwLength = sizeof machine;
    if (::GlobalMemoryStatusEx(&machine) == 0) return false;
    return machine.ullAvailPhys < machine.ullTotalPhys / 10 || machine.ullAvailPageFile < machine.ullTotalPageFile / 10;
}

}

bool is_memory_short(const pressure_files&) noexcept {
    const kept_error kept;
    return is_near_job_limit() || is_machine_short();
}

}
