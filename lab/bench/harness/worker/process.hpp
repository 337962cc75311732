// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs this program again as a worker: in a clean environment, with a time limit.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// The file descriptor on which a worker writes its one message.
inline constexpr int reply_descriptor = 3;

struct worker_request {
    std::vector<std::string> arguments; ///< after the program's name
    std::string preload;                ///< a file for LD_PRELOAD; empty for none, whatever the environment says
    std::optional<int> cpu;             ///< the only CPU that it may use
    std::chrono::milliseconds timeout{60'000};
    std::span<const std::string_view> environment{}; ///< "NAME=VALUE", added to the environment
};

enum class ending : std::uint8_t { finished, failed, timed_out, interrupted };

struct worker_reply {
    ending how = ending::failed;
    std::string message; ///< what it wrote to reply_descriptor
    std::string output;  ///< what it wrote to standard output and standard error, at most 16 KiB
    std::string reason;  ///< why it is not `finished`: one sentence
};

/// Starts /proc/self/exe and waits for it. From its own environment it passes on neither LD_PRELOAD nor TENURE_*.
[[nodiscard]] worker_reply run_worker(const worker_request& request);

}
