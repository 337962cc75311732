// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The end of a frame for TempJob.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Reports blocks that have outlived their frames, releases empty chunks, and makes every thread notice frame `now`.
void end_job_frame(std::uint64_t now) noexcept;

}
