// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How this program was built: the build system says it by TENURE_BUILD_TYPE, TENURE_BUILD_FLAGS, TENURE_BUILD_COMMIT.

#include <string>

/// What a macro expands to, as text. One that is not defined stays its own name: that tells it from one that is,
/// without asking the preprocessor.
#define TENURE_LAB_TEXT_OF(...) #__VA_ARGS__
#define TENURE_LAB_TEXT(...) TENURE_LAB_TEXT_OF(__VA_ARGS__)

namespace tenure::lab::build_info {

[[nodiscard]] std::string compiler();
[[nodiscard]] std::string flags();  ///< "unknown" when the build system did not say
[[nodiscard]] std::string type();   ///< without the build system's word: what the compiler knows about optimising
[[nodiscard]] std::string commit(); ///< "unknown" likewise

}
