// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// foreach_target.h reads the loops once for each set of instructions but the least, which the last include reads.

#define HWY_TARGET_INCLUDE "tenure/buffer/vector_fill_loops.hpp"
#include <hwy/foreach_target.h>

#include <tenure/buffer/vector_fill_loops.hpp>

namespace tenure::vector_kernels::inline v0_1 {

HWY_EXPORT(find_fills);

const fill_loops& filling() noexcept { return HWY_DYNAMIC_DISPATCH(find_fills)(); }

}
