// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which CPUs this process may use, and staying on one of them.

#include <cstddef>
#include <vector>

namespace tenure::lab {

/// The CPUs that the process was started with, the highest first: the lowest takes most of the interrupts.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Keeps the calling thread, and what it starts from then on, on one CPU. Returns whether the system did it.
bool pin_to_cpu(int cpu);

/// Gives the index-th thread of a measurement a CPU of its own. Does nothing where there are fewer CPUs than that.
bool pin_thread(std::size_t index);

}
