// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Whether memory is short: in the container of this process, or on the whole machine.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Where Linux reports. Tests have files of their own.
struct pressure_files {
    const char* own_group = "/proc/self/cgroup";
    const char* groups = "/sys/fs/cgroup"; ///< the folder of all control groups; at most 256 characters
    const char* machine = "/proc/pressure/memory";
};

/// Whether less than a tenth of the container's memory limit is left, or programs of the container wait for memory for
/// a tenth of the time: of the whole machine, if the container does not report it. False if the system reports neither.
/// Allocates nothing.
/// Cost      some 20 us: reads up to four system files for each group. Linux: memory.max and memory.current of the
///           process's control group and of its parents (version 2), and the ten-second average of its memory.pressure
///           or of /proc/pressure/memory.
/// Threads   any.
[[nodiscard]] TENURE_API bool is_memory_short(const pressure_files& files = {}) noexcept;

}
