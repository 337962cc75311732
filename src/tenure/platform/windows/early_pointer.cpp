// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/early_pointer.hpp>

namespace tenure::inline TENURE_ABI::platform {

TENURE_DEFINE_THREAD_LOCAL(void*, untyped_early_pointer)

}
