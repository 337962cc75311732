// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// The one source of the program that has the code.

#define TENURE_POOLS_IMPLEMENTATION
#include "tenure_pools.hpp"
