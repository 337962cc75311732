// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "cli/subcommands.hpp"

namespace tenure::lab {

std::optional<int> subcommands::run(int argc, char** argv) const {
    for (const entry& each : all_)
        if (each.chosen()) return each.run(argc, argv);
    return std::nullopt;
}

}
