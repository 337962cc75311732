/* SPDX-FileCopyrightText: Tenure contributors
 * SPDX-License-Identifier: MIT
 *
 * A program in C that loads the C++ library late and for itself, as it would with a plug-in, and calls operator new as
 * the plug-in would. Ends with 5 if that library's own serves it: it calls the handler for want of memory. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void* allocate_function(size_t);
typedef void free_function(void*);
typedef void handler_function(void);
typedef handler_function* set_handler_function(handler_function*);

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

static void end_for_want_of_memory(void) { _Exit(dlerror() == NULL ? 5 : 4); }

int main(void) {
    void* found = symbol("_Znwm");
    allocate_function* allocate = NULL;
    free_function* release = NULL;
    if (found == NULL) return 1; /* no library that was preloaded has it */
    memcpy(&allocate, &found, sizeof found);
    found = symbol("_ZdlPv");
    memcpy(&release, &found, sizeof found);
    void* const runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (runtime == NULL) return 2;
    found = dlsym(runtime, "_ZSt15set_new_handlerPFvvE");
    set_handler_function* set_handler = NULL;
    memcpy(&set_handler, &found, sizeof found);
    set_handler(&end_for_want_of_memory);
    (void)dlerror();
    for (int each = 0; each < 100; ++each) {
        void* const block = allocate(300);
        if (block == NULL) return 3;
        memset(block, 1, 300);
        release(block);
    }
    if (dlerror() != NULL) return 4;
    (void)allocate(SIZE_MAX / 4);
    return 6;
}
