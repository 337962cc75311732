// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// One contestant divided by another: the article's Persistent/TempJob and TempJob/Temp.

#include <string>
#include <vector>

#include "report/result.hpp"
#include "report/statistics.hpp"

namespace tenure::lab {

/// The quotients of an experiment for one of its times.
struct quotient_row {
    std::string figure;       ///< "alloc, warm"
    std::vector<summary> all; ///< in the order of `experiment_result::quotients`, from the same rounds; count 0 when
                              ///< one side was not measured
};

/// One row for every time that both sides of at least one quotient have. Empty when the experiment asks for none.
[[nodiscard]] std::vector<quotient_row> quotients_of(const experiment_result& found);

}
