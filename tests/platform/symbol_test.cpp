// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <tenure/platform/symbol.hpp>

#include <dlfcn.h>

#include <gtest/gtest.h>

namespace {

using tenure::platform::symbol_of_c_library;

TEST(symbol, functions_of_the_c_library_are_found_as_the_loader_finds_them) {
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr || ::dlsym(library, "gnu_get_libc_version") == nullptr)
        GTEST_SKIP() << "not the GNU C library, shared";
    for (const char* name : {"getpid", "qsort", "snprintf", "pthread_create", "getaddrinfo", "exit", "fopen", "opendir",
                             "sigaction", "fork", "wcstombs", "__libc_malloc", "strtod", "atoi", "sem_wait"}) {
        ASSERT_NE(::dlsym(library, name), nullptr) << name;
        EXPECT_EQ(symbol_of_c_library(name), ::dlsym(library, name)) << name;
    }
    EXPECT_NE(symbol_of_c_library("__pthread_get_minstack"), nullptr) << "the background thread's stack needs it";
}

TEST(symbol, what_the_c_library_has_not_is_not_found) {
    EXPECT_EQ(symbol_of_c_library("tenure_has_no_such_function"), nullptr);
    EXPECT_EQ(symbol_of_c_library(""), nullptr);
    EXPECT_EQ(symbol_of_c_library("strlen"), nullptr) << "chosen by the processor";
    EXPECT_EQ(symbol_of_c_library("environ"), nullptr) << "no function";
}

}
