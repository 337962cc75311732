// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A library whose code has two executable segments, with a call site in each: see advised_segments.cpp.

#include <cstddef>

extern "C" {
void* allocate_in_first_segment(void* (*allocate)(std::size_t), std::size_t bytes);
void* allocate_in_second_segment(void* (*allocate)(std::size_t), std::size_t bytes);
}
