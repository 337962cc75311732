// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// foreach_target.h includes the loops once for each instruction set except the lowest, which the last include adds.

#define HWY_TARGET_INCLUDE "tenure/buffer/detail/loops/vector_conversion_loops.hpp"
#include <hwy/foreach_target.h>

#include <tenure/buffer/detail/loops/vector_conversion_loops.hpp>

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
