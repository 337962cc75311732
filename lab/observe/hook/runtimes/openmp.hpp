// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Declarations shared by the files that handle gcc's OpenMP.

namespace tenure::lab::hook {

/// Records that the program uses tasks: threads that wait for others may run some meanwhile.
void note_tasks() noexcept;

}
