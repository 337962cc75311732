// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// no_cancel_scope: protects a thread from being cancelled inside the library.

#include <tenure/base/config.hpp>

namespace tenure::inline TENURE_ABI::platform {

/// While it exists, a cancellation of the calling thread (pthread_cancel) stays pending. It surrounds system calls that
/// are cancellation points, such as write, open and nanosleep: a cancellation that unwinds the library's noexcept
/// functions would end the process. Cost      nanoseconds.
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
