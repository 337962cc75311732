// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Memory for a heap's own records. In checked builds it lies between two pages that fault (mitigation::records), so
/// that no overrun of a block reaches it.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Maps zeroed memory, rounded up to whole OS pages.
/// Returns   nullptr when out of memory.
[[nodiscard]] void* map_records(std::size_t bytes) noexcept;

/// Requires  the size is that of map_records().
void unmap_records(void* records, std::size_t bytes) noexcept;

}
