// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// TBB's workers: which of their waits are for work.

#include <cstdint>

#include "hook/recorder.hpp"

namespace tenure::lab::hook {

/// Whether the call came from TBB's own scheduler, which then has nothing to do for this thread.
[[nodiscard]] bool is_idle_in_tasks(std::uintptr_t caller) noexcept;

/// Around such a wait: a worker is in no region meanwhile, who opened the region is in it, idle.
struct idle_stay {
    std::uint64_t begin;
    bool is_worker;
};
[[nodiscard]] idle_stay begin_idle() noexcept;
void end_idle(const idle_stay& stay) noexcept;

/// In the child of a fork, whose table of regions is a new one.
void forget_task_region() noexcept;

/// A thread that TBB has started.
void begin_worker() noexcept;
void end_worker() noexcept;

}
