// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// File names for tests that run in parallel.

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace support {

/// A path in the folder for temporary files that no other process uses; it ends with `name`.
inline std::string own_path(const std::string& name) {
    return testing::TempDir() + std::to_string(::getpid()) + "-" + name;
}

}
