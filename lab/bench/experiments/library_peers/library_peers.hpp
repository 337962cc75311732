// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What each peer of this folder provides: itself, and its contestants per experiment. A peer whose headers are not
/// found is built from PEER_missing.cpp, which provides the same rows without code.

#include <span>

#include "bench/harness/experiment.hpp"

namespace tenure::lab {

[[nodiscard]] library_peer boost_pool_peer();
[[nodiscard]] std::span<const contestant> boost_pool_in_lifetimes();
[[nodiscard]] std::span<const contestant> boost_pool_in_pools();

[[nodiscard]] library_peer loki_peer();
[[nodiscard]] std::span<const contestant> loki_in_pools();

[[nodiscard]] library_peer stb_sprintf_peer();
[[nodiscard]] std::span<const contestant> stb_sprintf_in_parallel();

[[nodiscard]] library_peer std_pmr_peer();
[[nodiscard]] std::span<const contestant> std_pmr_in_lifetimes();
[[nodiscard]] std::span<const contestant> std_pmr_in_pools();

}
