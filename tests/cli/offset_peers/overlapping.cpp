// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Hands out one offset to everybody.

#include "offset_peer.hpp"

void* tenure_offsets_create(std::uint64_t, std::uint64_t, std::uint64_t) {
    static char one;
    return &one;
}

std::uint64_t tenure_offsets_allocate(void*, std::uint64_t, std::uint64_t*) { return 0; }

void tenure_offsets_free(void*, std::uint64_t, std::uint64_t) {}

void tenure_offsets_destroy(void*) {}
