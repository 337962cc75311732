// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How this program was built. The build system defines TENURE_BUILD_TYPE, TENURE_BUILD_FLAGS and TENURE_BUILD_COMMIT.

#include <string>

/// The expansion of a macro, as text. An undefined macro expands to its own name, so a caller can recognize it without
/// using the preprocessor.
#define TENURE_LAB_TEXT_OF(...) #__VA_ARGS__
#define TENURE_LAB_TEXT(...) TENURE_LAB_TEXT_OF(__VA_ARGS__)

namespace tenure::lab::build_info {

[[nodiscard]] std::string compiler();
[[nodiscard]] std::string flags();  ///< "unknown" when the build system does not define it
[[nodiscard]] std::string type();   ///< if undefined, derived from the compiler's optimisation macros
[[nodiscard]] std::string commit(); ///< "unknown" when the build system does not define it

}
