// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Static probes (USDT) for tracers outside the process: where allocations of the heap profile begin and end.
///
/// The contract is OpenTelemetry's for memory profiling by eBPF: otel_memory:alloc(pointer, bytes, weighted bytes) and
/// otel_memory:free(pointer), each with a semaphore that the kernel raises while somebody listens. A tracer finds both
/// by the notes of the file (.note.stapsdt). Without a listener, a probe is an instruction that does nothing.
///
/// Likewise `tenure profile --attach` finds tenure_requests, by the semaphore of tenure:requests, and writes to it: the
/// kernel lets those do that who may debug the process.

#include <cstdint>

#include <tenure/base/config.hpp>

// Counts of listeners, written by the kernel.
extern "C" TENURE_LOCAL volatile std::uint16_t tenure_probe_alloc_listeners;
extern "C" TENURE_LOCAL volatile std::uint16_t tenure_probe_free_listeners;

/// What the process is asked for, as a set of bits that the drop-in defines. Access it atomically.
extern "C" TENURE_LOCAL std::uint16_t tenure_requests;

namespace tenure::inline TENURE_ABI::platform {

[[nodiscard]] inline bool has_listeners() noexcept {
    return (tenure_probe_alloc_listeners | tenure_probe_free_listeners) != 0;
}

/// A block was allocated; `weighted_bytes` is what it stands for.
void probe_alloc(const void* block, std::uint64_t bytes, std::uint64_t weighted_bytes) noexcept;
/// A block that was announced so is freed.
void probe_free(const void* block) noexcept;

}
