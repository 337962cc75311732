// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Ties a protocol that a test repeats to its source: the test fails when the source changes.

#include <initializer_list>
#include <string_view>

namespace orders {

/// Every text is in the file, spaces and line ends apart. `file` is below src/tenure.
void expect_in_source(std::string_view file, std::initializer_list<std::string_view> texts);

}
