/* SPDX-FileCopyrightText: Tenure contributors
 * SPDX-License-Identifier: MIT
 *
 * A program in C that loads the C++ library late and for itself, as it would with a plug-in, and calls operator new as
 * the plug-in would. Ends with 5 if all is as it should be. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef void* allocate_function(size_t);
typedef void free_function(void*);

static void* symbol(const char* name) { return dlsym(RTLD_DEFAULT, name); }

int main(void) {
    void* found = symbol("_Znwm");
    allocate_function* allocate = NULL;
    free_function* release = NULL;
    if (found == NULL) return 1; /* no library that was preloaded has it */
    memcpy(&allocate, &found, sizeof found);
    found = symbol("_ZdlPv");
    memcpy(&release, &found, sizeof found);
    if (dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL) == NULL) return 2;
    (void)dlerror();
    for (int each = 0; each < 100; ++each) {
        void* const block = allocate(300);
        if (block == NULL) return 3;
        memset(block, 1, 300);
        release(block);
    }
    return dlerror() == NULL ? 5 : 4;
}
