// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// dlopen and dlsym.

#include "bench/experiments/modules/modules.hpp"

#include <dlfcn.h>

#include "bench/harness/mallocs/malloc_peers.hpp"

namespace tenure::lab {

loaded_module load_module(const char* file, const char* symbol) {
    const std::string path = find_own_library(file);
    if (path.empty()) return {nullptr, std::string{file} + " is not part of this build"};
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) return {nullptr, ::dlerror()};
    const void* const found = ::dlsym(module, symbol);
    if (found == nullptr) return {nullptr, path + " has no " + symbol};
    return {found, {}};
}

}
