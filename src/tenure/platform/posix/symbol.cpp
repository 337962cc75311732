// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/symbol.hpp>

#include <dlfcn.h>

namespace tenure::inline TENURE_ABI::platform {

void* next_symbol(const char* name) noexcept { return ::dlsym(RTLD_NEXT, name); }

void* symbol_of_loaded(const char* library, const char* name) noexcept {
    void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD); // never closed: the symbol must stay valid
    return handle == nullptr ? nullptr : ::dlsym(handle, name);
}

}
