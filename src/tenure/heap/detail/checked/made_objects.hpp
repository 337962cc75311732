// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The process heap in the report at the end of the program. Checked builds note the types of objects that make()
/// created, and who called it.

#include <cstddef>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

/// Notes an object of the process heap, if option leak_check is on; its type is a text of signature_of().
/// Of each, two frames are noted: the caller's, and `next_caller`, to which the caller returns. Where make() is not
/// inlined, the second is its caller. Of the first 1024, and of one in 32 later, a stack of a few frames.
/// Cost      takes a lock; with a stack 1.3 us more.
TENURE_API TENURE_COLD void note_made(const void* object, const char* type, std::size_t bytes,
                                      void* next_caller) noexcept;

/// Makes the process heap part of that report. Called once, when the library is loaded.
void enlist_process_heap() noexcept;

/// The block is freed. Cost      a load if no object is noted.
void forget_made(const void* block) noexcept;

/// All blocks of the process heap are freed.
void forget_all_made() noexcept;

}
