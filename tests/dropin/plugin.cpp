// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A library that allocates when it is loaded, used and unloaded; it brings the C++ library along.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {

std::vector<std::string>* const made_at_load = new std::vector<std::string>(100, std::string(100, 'p'));
std::map<int, std::string> with_a_destructor{{1, std::string(1000, 'q')}, {2, "two"}};

__attribute__((destructor)) void unload() {
    delete made_at_load;
    delete[] new char[5000];
}

}

extern "C" __attribute__((visibility("default"))) char* plugin_text(int number) {
    thread_local std::string last;
    last = std::string(static_cast<std::size_t>(number % 300), 'r');
    with_a_destructor[number % 50] = last;
    return ::strdup(made_at_load->at(0).c_str());
}

// Returns   whether a refusal arrives as the exception of the language.
extern "C" __attribute__((visibility("default"))) int plugin_catches() {
    static volatile std::size_t beyond = static_cast<std::size_t>(PTRDIFF_MAX);
    try {
        ::operator delete(::operator new(beyond));
    } catch (const std::bad_alloc&) {
        return 1;
    }
    return 0;
}
