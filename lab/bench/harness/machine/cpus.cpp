// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Affinity through sched_setaffinity; siblings from /sys.

#include "bench/harness/machine/cpus.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>

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

int current_cpu() { return ::sched_getcpu(); }

bool cpu_list_holds(std::string_view list, int cpu) {
    while (!list.empty()) {
        const std::string_view piece = list.substr(0, list.find(','));
        list.remove_prefix(std::min(piece.size() + 1, list.size()));
        int first = 0;
        const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), first);
        if (error != std::errc{}) continue;
        int last = first;
        if (end != piece.data() + piece.size() && *end == '-') {
            std::from_chars(end + 1, piece.data() + piece.size(), last);
        }
        if (first <= cpu && cpu <= last) return true;
    }
    return false;
}

cpu_relation relation_of(int one, int other, const std::string& directory) {
    if (one < 0 || other < 0) return cpu_relation::unknown;
    if (one == other) return cpu_relation::same;
    std::ifstream file(fmt::format("{}/cpu{}/topology/thread_siblings_list", directory, one));
    std::string siblings;
    if (!std::getline(file, siblings) || !cpu_list_holds(siblings, one)) return cpu_relation::unknown;
    return cpu_list_holds(siblings, other) ? cpu_relation::one_core : cpu_relation::two_cores;
}

}
