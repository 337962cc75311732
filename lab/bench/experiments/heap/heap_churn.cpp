// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Makes the script: slots, sizes and which blocks are handed over.

#include "bench/experiments/heap/heap_churn.hpp"
#include "bench/harness/page_array.hpp"
#include "bench/harness/random_source.hpp"

namespace tenure::lab {

page_array<replacement> make_script(std::size_t steps, std::size_t slots, std::size_t handed_percent, block_sizes sizes,
                                    random_source& random) {
    page_array<replacement> script(steps);
    for (replacement& step : script.all()) {
        step.slot = static_cast<std::uint32_t>(random.below(slots));
        step.bytes = static_cast<std::uint16_t>(sizes.smallest + random.below(sizes.largest - sizes.smallest + 1u));
        step.handed = random.below(100) < handed_percent;
    }
    return script;
}

}
