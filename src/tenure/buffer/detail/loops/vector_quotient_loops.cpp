// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// foreach_target.h includes the loops once for each instruction set except the lowest, which the last include adds.

#define HWY_TARGET_INCLUDE "tenure/buffer/detail/loops/vector_quotient_loops.hpp"
#include <hwy/foreach_target.h>

#include <tenure/buffer/detail/loops/vector_quotient_loops.hpp>

namespace tenure::vector_kernels::inline v0_1 {

HWY_EXPORT(find_quotients);

const quotient_loops& division() noexcept { return HWY_DYNAMIC_DISPATCH(find_quotients)(); }

}
