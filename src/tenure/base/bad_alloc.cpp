// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Built with exceptions, unlike the rest of the library.

#include <tenure/base/bad_alloc.hpp>

#include <new>

namespace tenure::inline TENURE_ABI {

void throw_bad_alloc() { throw std::bad_alloc(); }

}
