// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Expectations about a protocol.

#include <functional>
#include <set>
#include <string>

#include "orders/explorer.hpp"

namespace orders {

/// Every execution passes.
void expect_pass(const programs& all, const options& how = {});
/// Every execution passes, and the orders that the programs need are exactly those of `needed`. Those of `unneeded` are
/// stronger than any of the programs needs: each has a reason in its source or in the test.
void expect_needs(const programs& all, const std::set<std::string>& needed, const std::set<std::string>& unneeded,
                  const options& how = {});

}
