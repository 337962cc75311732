// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A function of a preloaded malloc, by a name that only this malloc exports.

namespace tenure::lab {

/// Aborts when the function is missing. The row that calls it names its malloc, so it always exists.
[[nodiscard]] void* required_address(const char* name);

template<class Function>
[[nodiscard]] Function* required_symbol(const char* name) {
    return reinterpret_cast<Function*>(required_address(name));
}

}
