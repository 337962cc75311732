// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Two contestants of one experiment, one over the other: the article's Persistent/TempJob and TempJob/Temp.

#include <string>
#include <vector>

#include "report/result.hpp"
#include "report/statistics.hpp"

namespace tenure::lab {

/// The quotients of an experiment at one of its times.
struct quotient_row {
    std::string figure;       ///< "alloc, warm"
    std::vector<summary> all; ///< as `experiment_result::quotients`, of the same rounds; count 0: one was not measured
};

/// At every time that both sides of at least one quotient have; empty where an experiment asks for none.
[[nodiscard]] std::vector<quotient_row> quotients_of(const experiment_result& found);

}
