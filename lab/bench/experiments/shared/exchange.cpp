// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The difference of two times, and a description of two CPUs.

#include "bench/experiments/shared/exchange.hpp"
#include "bench/harness/stopwatch.hpp"

#include <fmt/format.h>

namespace tenure::lab {

namespace {

std::string_view words_of(cpu_relation relation) {
    switch (relation) {
    case cpu_relation::one_core: return "which the kernel reports as two threads of one core";
    case cpu_relation::two_cores: return "which the kernel reports as two cores";
    case cpu_relation::same:
    case cpu_relation::unknown: break;
    }
    return "for which the kernel does not report whether they are one core";
}

}

double median_difference(std::span<const double> with, std::span<const double> alone) {
    std::array<double, exchange_turns> differences{};
    for (std::size_t i = 0; i < with.size(); ++i) differences[i] = with[i] - alone[i];
    return median_of(std::span{differences}.first(with.size()));
}

std::string where_they_ran(std::array<int, 2> cpus) {
    if (cpus[0] < 0 || cpus[1] < 0) return "the two threads did not each stay on one CPU";
    if (cpus[0] == cpus[1]) return fmt::format("both threads ran on CPU {}", cpus[0]);
    return fmt::format("the two threads ran on CPUs {} and {}, {}", cpus[0], cpus[1],
                       words_of(relation_of(cpus[0], cpus[1])));
}

}
