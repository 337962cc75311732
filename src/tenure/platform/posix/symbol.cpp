// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/symbol.hpp>

#include <dlfcn.h>
#if defined(__linux__)
#    include <sys/auxv.h>
#endif

#include <tenure/base/align.hpp>

// Since glibc 2.35. Other C libraries lack it.
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#    include <gnu/libc-version.h>
// NOLINTNEXTLINE(readability-redundant-declaration,readability-inconsistent-declaration-parameter-name): weak here
extern "C" __attribute__((weak)) int _dl_find_object(void* address, struct dl_find_object* found) noexcept;
#endif

namespace tenure::inline TENURE_ABI::platform {

void* next_symbol(const char* name) noexcept { return ::dlsym(RTLD_NEXT, name); }

void* symbol_of_loaded(const char* library, const char* name) noexcept {
    void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD); // never closed: the symbol must stay valid
    return handle == nullptr ? nullptr : ::dlsym(handle, name);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

namespace {

/// The loaded object that contains an address; nullptr if none does.
[[nodiscard]] const link_map* object_of(std::uintptr_t address) noexcept {
    struct dl_find_object found {};
    return ::_dl_find_object(pointer_at(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

}

bool may_be_system_code(const void* code) noexcept {
    if (::_dl_find_object == nullptr) return true;
    const link_map* const object = object_of(address_of(code));
    if (object == nullptr) return false; // generated code
    // A text inside the C library tells where it is. The address of one of its functions may be in the program, if that
    // defines the function itself, or takes its address and is not position-independent.
    const link_map* const system[] = {object_of(address_of(::gnu_get_libc_version())),
                                      object_of(::getauxval(AT_BASE)), // the loader
                                      object_of(reinterpret_cast<std::uintptr_t>(&may_be_system_code))};
    for (const link_map* const each : system) {
        if (object == each) return true;
    }
    return false;
}

#else

bool may_be_system_code(const void*) noexcept { return true; }

#endif

}
