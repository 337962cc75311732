// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Finds stacks in what `tenure pins` writes as JSON.

#include <string>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace support {

/// The first stack with this function.
inline nlohmann::json stack_of(const nlohmann::json& read, const std::string& function) {
    for (const auto& stack : read["stacks"]) {
        for (const auto& frame : stack["frames"])
            if (frame["function"].get<std::string>().find(function) != std::string::npos) return stack;
    }
    ADD_FAILURE() << function << " not in " << read.dump(2);
    return {};
}

}
