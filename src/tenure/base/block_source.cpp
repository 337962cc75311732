// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/block_source.hpp>

namespace tenure::inline TENURE_ABI {

bool block_source::extend(void*, std::size_t, std::size_t) noexcept { return false; }

bool block_source::gives_zero() const noexcept { return false; }

void* block_source::remap(void*, std::size_t, std::size_t, std::size_t) noexcept { return nullptr; }

bool block_source::decommit(void*, std::size_t) noexcept { return false; }

std::size_t block_source::largest_bytes() const noexcept { return max_object_bytes; }

}
