// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Draws how long the blocks of a group live.

#include <cstddef>
#include <string>

#include "observe/replay/advice/block_groups.hpp"

namespace tenure::lab {

/// A bar for each doubling of the lifetime in events. `number` makes the chart's name unique in its page.
[[nodiscard]] std::string lifetime_chart(const block_group& group, std::size_t number);

}
