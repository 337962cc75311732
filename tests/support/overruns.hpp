// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// For tests of overruns: writes past the end of a block, and the block's name in reports.

#include <cstddef>
#include <cstring>
#include <string>

#include <tenure/base/config.hpp>
#include <tenure/base/report.hpp>

namespace support {

/// The address as reports write it.
inline std::string name_of(const void* block) {
    tenure::report_text text;
    text.address(block);
    return std::string(text.view());
}

/// Hides the destination from the compiler, which would otherwise report the mistake itself.
inline void write(void* to, int byte, std::size_t count) {
    TENURE_OPAQUE(to);
    std::memset(to, byte, count);
}

}
