// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// The import tables of a module.

#include <cstddef>

#include <tenure/platform/windows/imports/replacements.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Replaces functions in a module's import table, and in the table of its delayed imports as far as they are bound.
/// Other threads may call through the tables meanwhile: they call either function.
void replace_imports(HMODULE module, const replacements& by, replaced_in where) noexcept;

}
