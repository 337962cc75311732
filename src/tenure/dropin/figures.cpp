// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/dropin/detail/figures.hpp>

#include <tenure/heap/heap.hpp>

namespace tenure::inline TENURE_ABI::dropin {

figures figures_now() noexcept {
    const heap& all = heap::process();
    const detail::huge_blocks& huge = detail::core_of(all).huge();
    const detail::fenced_blocks& fenced = detail::core_of(all).fenced();
    return {all.stats(), huge.live_count() + fenced.live_count(), huge.live_bytes() + fenced.live_bytes(),
            huge.retained_bytes()};
}

}
