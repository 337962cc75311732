// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Compares text with a file under snapshots/. With UPDATE_SNAPSHOTS=1 in the environment it writes the file and skips
/// the test; with CI=true beside that it fails.

#include <string>
#include <string_view>

namespace tenure::lab {

/// Fails the test at the first line that differs, with both.
void expect_snapshot(std::string_view file, const std::string& text);

}
