// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The end of a frame for TempJob. Private to this room.

#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Reports what has outlived its frames, takes back what is empty, and makes every thread notice the frame `now`.
void end_job_frame(std::uint64_t now) noexcept;

}
