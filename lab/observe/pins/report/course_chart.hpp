// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The parts of the resident memory over time: as a picture, as a table for a terminal, and as JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "observe/pins/memory_course.hpp"

namespace tenure::lab {

/// Areas on top of each other, one for each part that is not always empty, with a key. `a0`, `a1`, … are the classes
/// of their colours.
[[nodiscard]] std::string course_figure(const memory_course& course, std::string_view id);

/// A row for each file, at most `rows`.
[[nodiscard]] std::string course_text(const memory_course& course, std::size_t rows = 20);

[[nodiscard]] nlohmann::json json_of_course(const memory_course& course);

}
