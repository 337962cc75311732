// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Build IDs: the number by which a linker marks a program or library, so that symbols of another build are noticed.

#include <cstddef>
#include <cstdint>

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

struct build_id {
    static constexpr std::size_t max_bytes = 64; ///< linkers make 8 to 20

    std::size_t count = 0; ///< zero: the file has none
    unsigned char bytes[max_bytes] = {};
};

/// Reads the build ID of a program or library from memory, where its first bytes are mapped. Memory that is not there,
/// or is of another kind, has none. Allocates nothing and takes no lock; signal handlers may call it; preserves errno.
/// Cost      some system calls.
[[nodiscard]] TENURE_API build_id build_id_at(std::uintptr_t begin) noexcept;

}
