// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Files of a test that runs beside others.

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace support {

/// A path in the folder for temporary files that no other process uses; `name` stays at its end.
inline std::string own_path(const std::string& name) {
    return testing::TempDir() + std::to_string(::getpid()) + "-" + name;
}

}
