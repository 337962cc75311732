// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "bench/experiments/shared/required_symbol.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace tenure::lab {

void* required_address(const char* name) {
    void* const found = ::dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) {
        std::fprintf(stderr, "the function %s was not found\n", name);
        std::abort();
    }
    return found;
}

}
