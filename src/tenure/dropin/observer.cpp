// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// The drop-in has no observer, and is no copy of the library that a program should hear of. It receives the scopes of
/// the program's own copies of the library (hardened/), and looking for an observer would call the loader within
/// malloc. This file replaces platform/posix/observer.cpp and copies.cpp.

#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI::host {

const tenure_observer_table* process_observer() noexcept { return nullptr; }
void report_other_copies() noexcept {}
std::string_view other_copy(char*, std::size_t) noexcept { return {}; }

}
