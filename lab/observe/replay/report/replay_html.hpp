// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The page of `tenure replay`: memory over the trace, then the tables that every report has.

#include <string>
#include <string_view>

#include "report/result/result.hpp"

namespace tenure::lab {

/// `file`: the trace's name. `facts`: what was replayed, in lines.
/// Requires  is_replay().
[[nodiscard]] std::string replay_page(const result& found, std::string_view file, std::string_view facts);

/// Whether `tenure replay` has made a result.
[[nodiscard]] bool is_replay(const result& found);

/// The same page of a result that was read from `path`; the file names the trace.
/// Requires  is_replay().
[[nodiscard]] std::string replay_page_of_file(const result& found, std::string_view path);

}
