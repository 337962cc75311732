// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/base/host.hpp>

#include <stdlib.h>

namespace tenure::inline TENURE_ABI::host {

const char* environment(const char* name) noexcept {
    return ::secure_getenv(name); // NOLINT(concurrency-mt-unsafe): a program must not change it concurrently
}

}
