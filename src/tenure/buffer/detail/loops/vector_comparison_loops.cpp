// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// foreach_target.h includes the loops once for each instruction set except the lowest, which the last include adds.

#define HWY_TARGET_INCLUDE "tenure/buffer/detail/loops/vector_comparison_loops.hpp"
#include <hwy/foreach_target.h>

#include <tenure/buffer/detail/loops/vector_comparison_loops.hpp>

namespace tenure::vector_kernels::inline v0_1 {

HWY_EXPORT(find_comparisons);

const comparison_loops& comparing() noexcept { return HWY_DYNAMIC_DISPATCH(find_comparisons)(); }

}
