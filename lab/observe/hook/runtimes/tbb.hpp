// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TBB's workers: recognises their waits for work.

#include <cstdint>

#include "observe/hook/record/recorder.hpp"

namespace tenure::lab::hook {

/// Whether the call comes from TBB's own scheduler, which then has no work for this thread.
[[nodiscard]] bool is_idle_in_tasks(std::uintptr_t caller) noexcept;

/// Called around such a wait. A worker leaves its region; the thread that opened the region stays in it and is idle.
struct idle_stay {
    std::uint64_t begin;
    bool is_worker;
};
[[nodiscard]] idle_stay begin_idle() noexcept;
void end_idle(const idle_stay& stay) noexcept;

/// For the child of a fork, which has a new region table.
void forget_task_region() noexcept;

/// Called for a thread that TBB has started.
void begin_worker() noexcept;
void end_worker() noexcept;

}
