// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a reader of the article asked: what does Temp cost where it runs over its budget?

#include <cstddef>

#include "harness/experiment.hpp"

namespace tenure::lab {

/// Fills Temp to twice the budget: where the first block lies outside it and how far away, and what an allocation
/// costs before, at and after it.
void measure_overflow(const task& asked, std::size_t budget_bytes);

}
