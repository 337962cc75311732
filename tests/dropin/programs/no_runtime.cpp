// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A program without the C++ library, linked to the drop-in, whose operators it uses.
//
// usage: no_runtime              what is refused quietly is null
//        no_runtime throw        nobody is there to throw: a message, and the end
//        no_runtime PLUGIN       a plug-in brings the runtime, and catches

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace {
volatile std::size_t beyond = static_cast<std::size_t>(PTRDIFF_MAX);
constexpr std::nothrow_t quietly{};
}

int main(int count, char** arguments) {
    if (count == 1) {
        ::operator delete(::operator new(100));
        const bool refused = ::operator new(beyond, quietly) ==
                             nullptr&& ::operator new (beyond, std::align_val_t{64}, quietly) == nullptr;
        return refused ? 0 : 1;
    }
    if (std::strcmp(arguments[1], "throw") == 0) {
        ::operator delete(::operator new(beyond));
        return 1;
    }
    void* const plugin = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 1;
    auto* const catches = reinterpret_cast<int (*)()>(::dlsym(plugin, "plugin_catches"));
    return catches != nullptr && catches() == 1 ? 0 : 1;
}
