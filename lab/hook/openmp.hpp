// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the parts of gcc's OpenMP know of each other.

namespace tenure::lab::hook {

/// The program has tasks: who waits for others may run some meanwhile.
void note_tasks() noexcept;

}
