// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Keeps errno for the program.

#include <cerrno>

namespace tenure::lab::blocks {

class errno_scope {
public:
    errno_scope() noexcept : saved_(errno) {}
    ~errno_scope() { errno = saved_; }
    errno_scope(const errno_scope&) = delete;
    errno_scope& operator=(const errno_scope&) = delete;

private:
    int saved_;
};

}
