// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The role of a contestant in a file without the field "role".
///
/// The first files of format 1 had no such field, so a reader recognized ours by their names. The writer still omits
/// the field where that rule gives the declared role, which keeps files identical; it writes the field for every other
/// contestant. Nothing but the JSON reader and writer may use this rule: the declaration decides.

#include <string_view>

#include "report/result/result.hpp"

namespace tenure::lab {

[[nodiscard]] contestant_role role_without_field(std::string_view name, std::string_view kind);

}
