// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What `tenure replay` and `tenure advise` have in common.

#include <cstdint>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "observe/replay/advice/counterfactual.hpp"
#include "observe/trace/trace.hpp"

namespace tenure::lab {

class replay_options {
public:
    /// `rounds`: the default.
    void add_to(CLI::App& command, std::uint32_t rounds);

    [[nodiscard]] replay_settings settings() const;
    /// The seed of a run: a new one unless it was given.
    [[nodiscard]] std::uint64_t seed() const;

private:
    std::uint32_t rounds_ = 7, repeat_ = 0, timeout_s_ = 300;
    std::uint64_t seed_ = 0;
    std::string touch_ = "ends";
};

/// What helps when a trace does not fit into memory.
inline constexpr std::string_view large_trace_hint =
    "a part of the trace may fit. Make one with tenure trace cut FILE --from TIME --to TIME -o PART";

/// Reads a trace for a command. Says on standard error what is wrong with it.
/// Returns   a trace whose error is empty, or one that cannot be used.
[[nodiscard]] trace read_for_replay(const std::string& path);

}
