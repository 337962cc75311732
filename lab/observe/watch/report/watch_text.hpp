// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The findings as a text report.

#include <cstddef>
#include <string>

#include "observe/watch/findings.hpp"
#include "report/table/text.hpp"

namespace tenure::lab {

struct text_choice {
    std::size_t sites = 10; ///< per region
    std::size_t regions = 8;
    std::size_t frames = 5; ///< per stack, from the blamed frame outwards
    colour colours = colour::plain;
};

[[nodiscard]] std::string to_text(const findings& found, const text_choice& choice);

}
