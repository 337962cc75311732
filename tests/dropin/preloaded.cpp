// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "preloaded.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

std::string file_of(const char* function) {
    void* const address = ::dlsym(RTLD_DEFAULT, function);
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
    const std::string path = info.dli_fname;
    return path.substr(path.rfind('/') + 1);
}

std::string dropin_name() {
    const std::string name = file_of("malloc");
    return name.starts_with("libtenure_malloc") ? name : std::string{};
}

bool is_hardened() {
    return dropin_name() == "libtenure_malloc_hardened.so" || dropin_name() == "libtenure_malloc_verified.so";
}

std::size_t resident_bytes() {
    std::size_t all = 0, resident = 0;
    FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    const int found = std::fscanf(file, "%zu %zu", &all, &resident);
    std::fclose(file);
    return found == 2 ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void* hidden(void* block) {
    __asm__ __volatile__("" : "+r"(block) : : "memory");
    return block;
}

bool holds_only(const void* block, unsigned char value, std::size_t bytes) {
    const auto* const each = static_cast<const unsigned char*>(block);
    for (std::size_t i = 0; i < bytes; ++i) {
        if (each[i] != value) return false;
    }
    return true;
}
