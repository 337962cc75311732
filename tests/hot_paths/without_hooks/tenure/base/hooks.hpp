// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The library without hooks: in front of the real header, so that the same code compiles as if hooks did not exist.

#include <cstddef>
#include <string_view>

#include <tenure/base/atomic.hpp>
#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::detail {

class hooked_call {
public:
    hooked_call(std::string_view, std::size_t) noexcept {}
};

inline void note_block_begin(const void*, std::size_t) noexcept {}
inline void note_block_end(const void*) noexcept {}

}
