// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/probe.hpp>

// Nothing outside the process can listen.
volatile std::uint16_t tenure_probe_alloc_listeners = 0;
volatile std::uint16_t tenure_probe_free_listeners = 0;
std::uint16_t tenure_requests = 0;

namespace tenure::inline TENURE_ABI::platform {

void probe_alloc(const void*, std::uint64_t, std::uint64_t) noexcept {}
void probe_free(const void*) noexcept {}

}
