// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

/// \file
/// dlopen() and dlclose(), which take the loader's lock.
///
/// The loader looks for a library also where the one that asks says (its run path), and would take us for the one that
/// asks. So a name without a folder is looked for there first.

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "hook/observed.hpp"
#include "hook/patches.hpp"

using namespace tenure::lab::hook;

namespace {

using open_library = void*(const char*, int);

/// Writes FOLDER/NAME where the library that `caller` is in looks for its own. Returns   whether there is such a file.
bool find_beside(std::uintptr_t caller, const char* name, char* path, std::size_t room) noexcept {
    Dl_info asking{};
    link_map* map = nullptr;
    if (::dladdr1(reinterpret_cast<void*>(caller), &asking, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
        return false;
    if (map == nullptr || map->l_name == nullptr || *map->l_name == '\0') return false; // the program's own is for all
    void* const library = real<open_library>(call::dlopen)(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    bool found = false;
    Dl_serinfo needed{};
    if (::dlinfo(library, RTLD_DI_SERINFOSIZE, &needed) == 0) {
        auto* const folders = static_cast<Dl_serinfo*>(std::malloc(needed.dls_size));
        if (folders != nullptr && ::dlinfo(library, RTLD_DI_SERINFOSIZE, folders) == 0 &&
            ::dlinfo(library, RTLD_DI_SERINFO, folders) == 0) {
            for (unsigned index = 0; index < folders->dls_cnt && !found; ++index) {
                const Dl_serpath& each = folders->dls_serpath[index];
                if ((each.dls_flags & LA_SER_RUNPATH) == 0) continue;
                std::size_t const length = std::strlen(each.dls_name), rest = std::strlen(name);
                if (length + rest + 2 > room) continue;
                std::memcpy(path, each.dls_name, length);
                path[length] = '/';
                std::memcpy(path + length + 1, name, rest + 1);
                found = ::access(path, R_OK) == 0;
            }
        }
        std::free(folders);
    }
    real<int(void*)>(call::dlclose)(library);
    return found;
}

}

extern "C" {

void* dlopen(const char* name, int mode) {
    place const from = here();
    constexpr std::size_t most_path = 1024;
    char beside[most_path];
    bool const is_bare = name != nullptr && *name != '\0' && std::strchr(name, '/') == nullptr;
    std::uint32_t const active = this_thread.active;
    this_thread.active = 0;
    const char* const chosen_name = is_bare && find_beside(from.caller, name, beside, sizeof beside) ? beside : name;
    this_thread.active = active;
    void* const library = observed<call::dlopen, open_library>(from, chosen_name, mode);
    if (library != nullptr) apply_patches();
    return library;
}

int dlclose(void* library) { return observed<call::dlclose, int(void*)>(here(), library); }
}
