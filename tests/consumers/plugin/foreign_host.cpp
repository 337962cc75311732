// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A checked host that frees blocks of a plug-in, which has a copy of the library: each report names that copy.
//
// usage: foreign_host PLUGIN KIND PATH

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tenure/tenure.hpp>

namespace {

std::string reported;

void keep(tenure::report_kind kind, std::string_view text) noexcept {
    if (kind == tenure::report_kind::misuse) reported = text;
}

}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    void* const plugin = ::dlopen(arguments[1], RTLD_NOW);
    if (plugin == nullptr) return 3;
    const auto allocate = reinterpret_cast<void* (*)(int)>(::dlsym(plugin, "allocate_in_plugin"));
    const int kind = std::atoi(arguments[2]);
    void* const block = allocate(kind);
    tenure::set_report_handler(&keep);
    tenure::block_pool pool(64);
    static_cast<void>(pool.allocate());
    switch (kind) {
    case 0: tenure::heap::process().deallocate(block); break;
    case 1: tenure::deallocate(block, tenure::lifetime::temp_job); break;
    default: pool.deallocate(block); break;
    }
    std::printf("%s\n", reported.c_str());
    const bool is_named =
        reported.find(std::string{"A second copy of the library is in "} + arguments[3]) != std::string::npos;
    std::fflush(stdout);
    std::_Exit(is_named ? 0 : 1);
}
