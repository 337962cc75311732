// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Keeps a thread from being cancelled inside the library.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// While it lives, a cancellation of the calling thread (pthread_cancel) stays pending. It stands around calls of the
/// system that are cancellation points, such as write, open and nanosleep: the library makes them in functions that do
/// not throw, and a cancellation that unwinds such a function ends the process. Cost      nanoseconds.
class TENURE_API no_cancel_scope {
public:
    no_cancel_scope() noexcept;
    ~no_cancel_scope();
    no_cancel_scope(const no_cancel_scope&) = delete;
    no_cancel_scope& operator=(const no_cancel_scope&) = delete;

private:
    int before_ = 0;
};

}
