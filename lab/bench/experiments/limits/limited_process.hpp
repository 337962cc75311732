// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Processes under a limit on addresses (RLIMIT_AS).

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::lab {

/// Starts this worker once more, under the limit, from its first instruction. The process that goes on under the limit
/// sends the worker's reply.
/// Returns   empty in the process under the limit. When that process did not end well, the reason in the process
///           that started it, as a sentence; when it did, this one ends.
[[nodiscard]] std::string go_on_under_limit(std::size_t bytes);

/// Removes the limit again, so that nothing fails that is not measured.
void lift_limit();

/// Whether a small program runs under the limit and has `library` loaded (empty: none to look for). It is /bin/cat,
/// which prints the map of its process.
[[nodiscard]] bool program_runs_under_limit(std::size_t bytes, std::string_view library);

}
