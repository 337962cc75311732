// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/parallel/parallel_counted.hpp"

namespace tenure::lab {

void tell_counts(const task& asked) {
    const hook::region_counts counts = counted_in(parallel_region);
    forget_recording();
    if (counts.stays != asked.options.size("pages")) return asked.out.fail("not every page was counted");
    const auto tell = [&asked](std::string_view what, std::uint64_t count) {
        asked.out.value(what, "", "in all", static_cast<double>(count), better::neither);
    };
    tell("allocations", counts.allocations);
    tell("frees", counts.releases);
    tell("lock waits", counts.waits);
    tell("free locks", counts.quick_locks);
}

}
