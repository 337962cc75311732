/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* What the test programs ask the drop-in, which they do not name: whether a block is one of its heap. */

#ifndef TENURE_TESTS_DROPIN_WINDOWS_OWNED_H
#define TENURE_TESTS_DROPIN_WINDOWS_OWNED_H

#include <windows.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*owns_function)(const void*);

static owns_function find_owns(void) {
    static const wchar_t* const files[] = {L"tenure_malloc.dll", L"tenure_malloc_hardened.dll"};
    size_t each;
    for (each = 0; each < 2; ++each) {
        const HMODULE module = GetModuleHandleW(files[each]);
        if (module != NULL) return (owns_function)(uintptr_t)GetProcAddress(module, "tn_malloc_owns");
    }
    return NULL;
}

/* Zero also if there is no drop-in. */
static int owned(const void* block) {
    static owns_function owns = NULL;
    if (owns == NULL) owns = find_owns();
    return owns != NULL && block != NULL ? owns(block) : 0;
}

/* Also in a release build. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
