// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A function of a malloc that is preloaded, by the name under which only that malloc has it.

namespace tenure::lab {

/// Aborts where it is not there: the row that asks for it names its malloc, so it always is.
[[nodiscard]] void* required_address(const char* name);

template<class Function>
[[nodiscard]] Function* required_symbol(const char* name) {
    return reinterpret_cast<Function*>(required_address(name));
}

}
