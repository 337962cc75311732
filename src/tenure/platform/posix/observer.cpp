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
    // The program is not to find our miss. The C library keeps one for each thread.
    if (found == nullptr) static_cast<void>(::dlerror()); // NOLINT(concurrency-mt-unsafe)
    return found;
}

}
