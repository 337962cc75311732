/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Marks of a program that links nothing of Tenure and is not position-independent: looked up once, by name. */

#include <dlfcn.h>
#include <stdlib.h>

typedef void (*region_begin)(const char* name, size_t name_bytes);
typedef void (*region_end)(void);

int main(void) {
    region_begin begin = (region_begin)dlsym(RTLD_DEFAULT, "tn_region_begin");
    region_end end = (region_end)dlsym(RTLD_DEFAULT, "tn_region_end");
    for (int round = 0; round < 5; ++round) {
        if (begin != NULL) begin("looked up", 9);
        void* volatile block = malloc(123);
        free(block);
        if (end != NULL) end();
    }
    return 0;
}
