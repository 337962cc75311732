// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Affinity by sched_setaffinity.

#include "harness/cpus.hpp"

#include <sched.h>

namespace tenure::lab {

std::vector<int> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return found;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) found.push_back(cpu);
    }
    return found;
}

bool pin_to_cpu(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

bool pin_thread(std::size_t index) {
    static const std::vector<int> cpus = allowed_cpus(); // of the process: the first caller is not pinned yet
    return index < cpus.size() && pin_to_cpu(cpus[index]);
}

}
