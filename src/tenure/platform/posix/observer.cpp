// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Looked up and not declared weak: in a program that is not position-independent a weak symbol without a definition is
// null for ever, whatever is loaded later.

#include <tenure/base/host.hpp>

#include <dlfcn.h>

#include <tenure/base/observer.hpp>

namespace tenure::inline TENURE_ABI::host {

const tenure_observer_table* process_observer() noexcept {
    auto const* const found = static_cast<const tenure_observer_table*>(::dlsym(RTLD_DEFAULT, "tenure_observer"));
    if (found == nullptr) static_cast<void>(::dlerror()); // the program is not to find our miss
    return found;
}

}
