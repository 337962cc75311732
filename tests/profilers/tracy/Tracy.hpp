// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Stand-ins for the macros of Tracy that examples/hooks_tracy.cpp uses, where Tracy is not installed.

#include <cstddef>

namespace stand_in {

void begin_block(const void* block, std::size_t bytes);
void end_block(const void* block);
void end_frame();

}

#define TracyAlloc(block, bytes) stand_in::begin_block(block, bytes)
#define TracyFree(block) stand_in::end_block(block)
#define FrameMark stand_in::end_frame()
