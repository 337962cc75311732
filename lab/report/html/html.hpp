// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The report: one page that works without a network and without JavaScript, light, dark and printed.

#include <string>

#include "report/result/result.hpp"

namespace tenure::lab {

[[nodiscard]] std::string to_html(const result& found);

}
