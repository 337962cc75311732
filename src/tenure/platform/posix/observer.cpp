// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Uses dlsym() instead of a weak declaration: in a program that is not position-independent, an undefined weak symbol
// stays null for ever, whatever is loaded later.

#include <tenure/base/host.hpp>

#include <dlfcn.h>

#include <tenure/base/observer.hpp>

namespace tenure::inline TENURE_ABI::host {

const tenure_observer_table* process_observer() noexcept {
    const auto* const found = static_cast<const tenure_observer_table*>(::dlsym(RTLD_DEFAULT, "tenure_observer"));
    // Clear the error, so that the program does not see it. The C library keeps one per thread.
    if (found == nullptr) static_cast<void>(::dlerror()); // NOLINT(concurrency-mt-unsafe)
    return found;
}

}
