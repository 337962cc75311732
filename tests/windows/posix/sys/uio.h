// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

struct iovec {
    void* iov_base;
    std::size_t iov_len;
};
