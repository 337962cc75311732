// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Selects the parts of experiments to run: all, or those named by --parts.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

class part_choice {
public:
    /// Each word is a part's name or a piece of part names. Without words, all parts are selected.
    explicit part_choice(std::vector<std::string> words) : words_(std::move(words)), known_(words_.size()) {}

    /// Bit i is set when part i of the experiment is selected; 0 when no word matches one of its parts.
    [[nodiscard]] std::uint64_t of(const experiment& chosen);

    /// Why the request cannot be met; empty when it can. Call it after of() was called for every experiment.
    [[nodiscard]] std::string refusal() const;

private:
    std::vector<std::string> words_;
    std::vector<bool> known_;       ///< by word: whether it matched a part
    std::vector<std::string> seen_; ///< names of all parts, for the message about an unknown one
};

}
