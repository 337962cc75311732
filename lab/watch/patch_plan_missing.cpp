// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// What stands in where no decoder of instructions was found when this was built.

#include "watch/patch_plan.hpp"

namespace tenure::lab {

function_plan plan_function(const std::filesystem::path&, const std::string&) {
    function_plan none;
    none.refusal = "this command was built without a decoder of instructions (Zydis 4; Debian: libzydis-dev)";
    return none;
}

}
