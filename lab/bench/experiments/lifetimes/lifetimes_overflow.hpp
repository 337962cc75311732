// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Answers a question of a reader of the article: what does Temp cost when it exceeds its budget?

#include <cstddef>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

/// Fills Temp to twice the budget. Reports which block is the first outside it and how far away it is, and the cost of
/// an allocation before, at and after it.
void measure_overflow(const task& asked, std::size_t budget_bytes);

}
