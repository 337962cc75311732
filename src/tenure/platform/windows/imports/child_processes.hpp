// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Processes that this one starts get the library that was added to this one.

#include <tenure/platform/windows/imports/replacements.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Adds replacements of CreateProcessA() and CreateProcessW(), if this library was added to the program.
void replace_process_starts(replacements& to) noexcept;

}
