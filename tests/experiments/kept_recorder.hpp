// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// What an experiment recorded, kept for a test that runs it in its own process.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/experiment.hpp"

class kept_recorder final : public tenure::lab::recorder {
public:
    void value(std::string_view metric, std::string_view variant, std::string_view, double number,
               tenure::lab::better) override {
        values[std::string{metric} + ", " + std::string{variant}] = number;
    }
    void list(std::string_view, std::string_view, std::string_view, std::span<const std::int64_t>) override {}
    void note(std::string_view text) override { notes.emplace_back(text); }
    void fail(std::string_view reason) override {
        if (failure.empty()) failure = reason;
    }
    void blocks(std::span<void* const> live, std::size_t, const tenure::lab::block_owner& owner) override {
        shown += live.size();
        query = owner.query;
    }

    std::map<std::string, double> values;
    std::vector<std::string> notes;
    std::string failure, query;
    std::size_t shown = 0;
};
