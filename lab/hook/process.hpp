// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The hook's own beginning.

namespace tenure::lab::hook {

/// Asks to be told of the ends of threads.
void prepare_threads() noexcept;

}
