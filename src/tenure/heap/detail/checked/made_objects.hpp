// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// In checked builds: the types of objects that make() created, and who called it, for the report at the end.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Notes an object of the process heap, if option leak_check is on; its type is a text of signature_of().
/// Cost      a stack of a few frames, a microsecond; takes a lock.
TENURE_API TENURE_COLD void note_made(const void* object, const char* type, std::size_t bytes) noexcept;

/// The block is freed. Cost      a load if no object is noted.
void forget_made(const void* block) noexcept;

}
