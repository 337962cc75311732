// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One contestant divided by another: the article's Persistent/TempJob and TempJob/Temp.

#include <vector>

#include "report/result/result.hpp"

namespace tenure::lab {

/// One row for every time that both sides of at least one quotient have. Empty when the experiment asks for none.
[[nodiscard]] std::vector<quotient_row> quotients_of(const experiment_result& found);

}
