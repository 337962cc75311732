/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* A second C runtime in the process, which is loaded when its malloc is first called: a delayed import. Blocks of both
 * runtimes are those of one heap, so either frees them. */

#include <string.h>

#include "owned.h"

void* delayed_malloc(size_t bytes);
void delayed_free(void* block);
void* delayed_realloc(void* block, size_t bytes);
char* delayed_fullpath(char* to, const char* path, size_t capacity);

int main(int argc, char** argv) {
    const int served = argc > 1 && strcmp(argv[1], "served") == 0;
    void* block;
    CHECK(GetModuleHandleA("msvcr100.dll") == NULL);
    block = delayed_malloc(1000);
    CHECK(GetModuleHandleA("msvcr100.dll") != NULL);
    CHECK(owned(block) == served);
    memset(block, 1, 1000);
    block = delayed_realloc(block, 100000);
    delayed_free(block);
    {
        char* path = delayed_fullpath(NULL, "somewhere", 0);
        CHECK(path != NULL && owned(path) == 0);
        delayed_free(path);
    }
    if (served) {
        block = malloc(100);
        delayed_free(block);
        free(delayed_malloc(100));
    }
    return 0;
}
