// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// Nobody observes the drop-in: it hears of the scopes of the program's own copies of the library (hardened/), and to
/// look for somebody would be a call of the loader's within malloc. platform/posix/observer.cpp is left out here.

#include <tenure/base/host.hpp>

namespace tenure::inline TENURE_ABI::host {

const tenure_observer_table* process_observer() noexcept { return nullptr; }

}
