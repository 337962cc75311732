// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Loads plug-ins that each have a copy of the library, and lets each see the other's symbols: none may mix.
//
// usage: copies PLUGIN PLUGIN…

#include <dlfcn.h>

#include <cstdio>
#include <vector>

int main(int count, char** arguments) {
    std::vector<int (*)()> entries;
    for (int i = 1; i < count; ++i) {
        void* const plugin = dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL);
        if (plugin == nullptr) {
            std::fprintf(stderr, "copies: %s\n", dlerror());
            return 2;
        }
        entries.push_back(reinterpret_cast<int (*)()>(dlsym(plugin, "use_plugin")));
    }
    int failed = 0;
    for (auto* const use_plugin : entries) failed += use_plugin();
    return failed;
}
