// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#pragma once

/// \file
/// Walks a stack from any position, by the unwind tables that every module for x64 has.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>
#include <tenure/base/host.hpp>
#include <tenure/platform/windows/system.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// Fills `frames` with the position of `at` and those of its callers, without the first `skipped`. Changes `at`.
[[nodiscard]] std::size_t walk_from(CONTEXT& at, void** frames, std::size_t capacity, std::size_t skipped,
                                    host::readable_span& known, std::uintptr_t* places) noexcept;

}
