// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What shows from outside that a mitigation of the hardened drop-in is on.

#include <string>

namespace tenure::lab {

/// The mitigations that take effect in this process, in the order of the option's names, separated by commas:
/// "canary, fill", or "none". A child process for each one commits a mistake, or watches the order of reuse.
/// double_free has no sign that is always the same, so it is never in the list. "sampled guards" may follow.
/// Requires  the process's malloc is the hardened drop-in, and no other thread runs.
[[nodiscard]] std::string seen_mitigations();

}
