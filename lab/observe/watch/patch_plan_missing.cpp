// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Replaces patch_plan.cpp in a build without an instruction decoder.

#include "observe/watch/patch_plan.hpp"

namespace tenure::lab {

function_plan plan_function(const std::filesystem::path&, const std::string&) {
    function_plan none;
    none.refusal = "this command was built without an instruction decoder (Zydis 4; Debian: libzydis-dev)";
    return none;
}

}
