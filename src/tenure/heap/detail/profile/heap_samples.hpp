// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where the heap's slow calls meet the heap profile.

#include <cstddef>
#include <cstdint>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class heap_core;
struct thread_cache;

/// Whether a profile is being recorded. Slow calls ask before they call anything below.
// Released after the mean; heap_core::is_profiled() acquires it. Relaxed loads only choose the slow path.
extern TENURE_API constinit atomic<bool> is_profiling;

/// An allocation of the process heap. Requires  no lock is held; `block` may be nullptr.
TENURE_COLD void begin_sample(heap_core& core, thread_cache* cache, const void* block, std::size_t bytes) noexcept;
/// A free of it, before another thread can have the block.
TENURE_COLD void end_sample(heap_core& core, const void* block) noexcept;

}
