// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Of bench/harness/machine/machine.cpp, which asks Linux for everything else.

#include <fmt/format.h>

#include <tenure/base/config.hpp>

#include "bench/harness/machine/machine.hpp"

namespace tenure::lab {

std::string library_version() {
    return fmt::format("{}.{}.{}", TENURE_VERSION_MAJOR, TENURE_VERSION_MINOR, TENURE_VERSION_PATCH);
}

}
