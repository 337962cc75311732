// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/thread.hpp>

#include <bit>

#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

std::uint64_t thread_id() noexcept { return ::GetCurrentThreadId(); }

bool is_single_threaded() noexcept { return false; }
std::size_t thread_count() noexcept { return 0; } // forks ask for it

std::size_t processor_count() noexcept {
    DWORD_PTR mine = 0, all = 0;
    if (::GetProcessAffinityMask(::GetCurrentProcess(), &mine, &all) != 0 && mine != 0 && mine != all)
        return static_cast<std::size_t>(std::popcount(static_cast<std::uint64_t>(mine)));
    // A mask has at most 64 processors: those of one group.
    const DWORD active = ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return active != 0 ? active : 1;
}

// A new thread has the processors of its process, whoever starts it.
void use_processors_of_main_thread() noexcept {}

}
