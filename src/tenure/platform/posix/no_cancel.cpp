// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/no_cancel.hpp>

#include <pthread.h>

namespace tenure::inline TENURE_ABI::platform {

no_cancel_scope::no_cancel_scope() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }

no_cancel_scope::~no_cancel_scope() { ::pthread_setcancelstate(before_, nullptr); }

}
