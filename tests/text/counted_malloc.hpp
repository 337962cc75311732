// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Every call of malloc, calloc and realloc of the calling thread, counted: also of what is freed again at once.

#include <cstddef>
#include <optional>

namespace text_tests {

/// So far; nothing under a sanitizer, whose malloc nobody may stand in for.
[[nodiscard]] std::optional<std::size_t> malloc_calls();

}
