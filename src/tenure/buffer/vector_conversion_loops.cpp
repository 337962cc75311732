// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// foreach_target.h reads the loops once for each set of instructions but the least, which the last include reads.

#define HWY_TARGET_INCLUDE "tenure/buffer/vector_conversion_loops.hpp"
#include <hwy/foreach_target.h>

#include <tenure/buffer/vector_conversion_loops.hpp>

namespace tenure::vector_kernels::inline v0_1 {

HWY_EXPORT(find_integer_conversions);

HWY_EXPORT(find_floating_conversions);

const integer_conversion_loops& converting_integers() noexcept {
    return HWY_DYNAMIC_DISPATCH(find_integer_conversions)();
}
const floating_conversion_loops& converting_floating() noexcept {
    return HWY_DYNAMIC_DISPATCH(find_floating_conversions)();
}

}
