/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* A library that is loaded late. */

#include <malloc.h>
#include <stdlib.h>
#include <windows.h>

static void* from_start = NULL;

/* Allocates under the loader's lock, before LoadLibrary() returns, and when the process ends. */
BOOL WINAPI DllMain(HINSTANCE self, DWORD what, void* is_end_of_process) {
    (void)self;
    if (what == DLL_PROCESS_ATTACH) from_start = malloc(100);
    if (what == DLL_PROCESS_DETACH && is_end_of_process != NULL) {
        static const size_t sizes[] = {100, 40000, 3000000};
        size_t each;
        for (each = 0; each < 3; ++each) {
            void* const block = malloc(sizes[each]);
            free(realloc(block, 2 * sizes[each]));
        }
        free(realloc(from_start, 1000000));
    }
    return TRUE;
}

__declspec(dllexport) void* plugin_block_of_start(void) { return from_start; }
__declspec(dllexport) void* plugin_allocate(size_t bytes) { return malloc(bytes); }
__declspec(dllexport) void* plugin_resize(void* block, size_t bytes) { return realloc(block, bytes); }
__declspec(dllexport) void plugin_free(void* block) { free(block); }
__declspec(dllexport) void* plugin_allocate_aligned(size_t bytes, size_t alignment) {
    return _aligned_malloc(bytes, alignment);
}
