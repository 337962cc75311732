// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which parts of the experiments are run: all of them, or those that --parts names.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace tenure::lab {

class part_choice {
public:
    /// Each word is the name of a part, or a piece of the names of some; without words all parts are meant.
    explicit part_choice(std::vector<std::string> words) : words_(std::move(words)), known_(words_.size()) {}

    /// Bit i: part i of the experiment is meant; none when no word means one of its parts.
    [[nodiscard]] std::uint64_t of(const experiment& chosen);

    /// Why the request cannot be met, once every experiment has been asked for its parts; empty: it can.
    [[nodiscard]] std::string refusal() const;

private:
    std::vector<std::string> words_;
    std::vector<bool> known_;       ///< by word: whether it meant a part
    std::vector<std::string> seen_; ///< names of all parts, for the answer to an unknown one
};

}
