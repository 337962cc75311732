// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Passthrough allocates every block with malloc, so that heaptrack, Valgrind and LeakSanitizer see each object.
//
// No rebuild is needed: run TENURE_PASSTHROUGH=all ./program. This example sets the option itself, off and then on.

#include <cstdio>

#include <tenure/base/options.hpp>
#include <tenure/pool/pool.hpp>

namespace {

/// Returns the number of segments the pool acquired for a thousand objects; 0 when each object came from malloc.
std::size_t segments_for_a_thousand() {
    tenure::pool<double> numbers; // reads the option here, once
    for (int index = 0; index < 1000; ++index) {
        if (numbers.construct(1.0) == nullptr) return SIZE_MAX;
    }
    return numbers.stats().source_blocks;
}

}

int main() {
    tenure::set_option(tenure::option::passthrough, 0);
    const std::size_t ordinary = segments_for_a_thousand();
    tenure::set_option(tenure::option::passthrough, static_cast<std::uint64_t>(tenure::part::pool));
    const std::size_t passed = segments_for_a_thousand();
    std::printf("segments: %zu, under passthrough: %zu\n", ordinary, passed);
    return ordinary == 1 && passed == 0 ? 0 : 1;
}
