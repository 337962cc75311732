/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* A program that knows nothing of the drop-in: the functions of the C runtime, blocks of others, libraries that are
 * loaded late, threads. The first argument names a case. It passes with and without the drop-in: `served` says whether
 * blocks are to be those of the drop-in's heap. */

#include <direct.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <wchar.h>

#include "owned.h"

static int served = 0;
static const char* plugin_file = "";

#define CHECK_SERVED(block) CHECK(owned(block) == served)

static int is_filled(const void* block, int byte, size_t bytes) {
    const unsigned char* each = block;
    while (bytes-- != 0) {
        if (*each++ != (unsigned char)byte) return 0;
    }
    return 1;
}

/* A function that the import library of the compiler may lack. NULL: the runtime lacks it, too. */
static void* by_name(const char* name) {
    return (void*)(uintptr_t)GetProcAddress(GetModuleHandleA(TEST_RUNTIME), name);
}
typedef void* (*recalloc_function)(void*, size_t, size_t);
typedef void* (*aligned_recalloc_function)(void*, size_t, size_t, size_t);

static void* filled(void* block, int byte, size_t bytes) {
    CHECK(block != NULL);
    return memset(block, byte, bytes);
}

static void the_family_is_served(void) {
    static const size_t sizes[] = {0, 1, 16, 100, 5000, 40000, 300000, 3000000, 50000000};
    const recalloc_function recalloc = (recalloc_function)by_name("_recalloc");
    size_t each;
    for (each = 0; each < sizeof sizes / sizeof sizes[0]; ++each) {
        const size_t bytes = sizes[each];
        void* block = malloc(bytes);
        CHECK_SERVED(filled(block, 1, bytes));
        CHECK(((uintptr_t)block & 15) == 0);
        CHECK(_msize(block) >= bytes);
        block = realloc(block, 2 * bytes + 1);
        CHECK_SERVED(block);
        CHECK(is_filled(block, 1, bytes));
        block = realloc(block, bytes / 2 + 1);
        CHECK(is_filled(block, 1, bytes / 2));
        CHECK(realloc(block, 0) == NULL);
        block = calloc(bytes, 1);
        CHECK_SERVED(block);
        CHECK(is_filled(block, 0, bytes));
        if (recalloc != NULL) {
            block = recalloc(block, bytes + 100, 2);
            CHECK_SERVED(block);
            CHECK(is_filled(block, 0, 2 * bytes + 200));
        }
        CHECK(_expand(block, 1) == block || !served || bytes == 0);
        free(block);
    }
    free(NULL);
}

static void aligned_blocks_are_served(void) {
    static const size_t alignments[] = {1, 8, 16, 64, 4096, 65536};
    const aligned_recalloc_function recalloc = (aligned_recalloc_function)by_name("_aligned_recalloc");
    size_t each, offset;
    for (each = 0; each < sizeof alignments / sizeof alignments[0]; ++each) {
        const size_t alignment = alignments[each];
        for (offset = 0; offset < 100; offset += 33) {
            char* block = _aligned_offset_malloc(1000, alignment, offset);
            CHECK_SERVED(((void**)((uintptr_t)block & ~(uintptr_t)7))[-1]);
            CHECK(((uintptr_t)block + offset) % alignment == 0);
            filled(block, 2, 1000);
            block = _aligned_offset_realloc(block, 50000, alignment, offset);
            CHECK(((uintptr_t)block + offset) % alignment == 0);
            CHECK(is_filled(block, 2, 1000));
            _aligned_free(block);
        }
    }
    {
        void* block = _aligned_malloc(40000000, 4096); /* larger than a segment */
        CHECK(((uintptr_t)block & 4095) == 0);
        _aligned_free(filled(block, 3, 40000000));
        if (recalloc != NULL) {
            block = recalloc(NULL, 10, 10, 64);
            CHECK(is_filled(block, 0, 100));
            block = recalloc(block, 100, 100, 64);
            CHECK(is_filled(block, 0, 10000));
            _aligned_free(block);
        }
        _aligned_free(_aligned_realloc(_aligned_malloc(10000, 64), 10, 64));
        _aligned_free(NULL);
    }
}

static void a_refusal_is_null_and_sets_errno(void) {
    void* const block = filled(malloc(1000), 4, 1000);
    errno = 0;
    CHECK(malloc((size_t)PTRDIFF_MAX - 100) == NULL);
    CHECK(errno == ENOMEM || !served); /* Wine's runtimes leave it */
    errno = 0;
    CHECK(calloc((size_t)1 << 40, (size_t)1 << 40) == NULL);
    CHECK(errno == ENOMEM || !served); /* Wine's runtimes leave it */
    errno = 0;
    CHECK(realloc(block, (size_t)PTRDIFF_MAX - 100) == NULL);
    CHECK(errno == ENOMEM || !served); /* Wine's runtimes leave it */
    CHECK(is_filled(block, 4, 1000));
    errno = 0;
    free(block);
    CHECK(errno == 0);
}

static int handler_calls = 0;
static int give_up_at_the_third_call(size_t bytes) {
    (void)bytes;
    return ++handler_calls < 3;
}
typedef int (*new_handler)(size_t);

static void the_new_handler_is_called_where_malloc_is_to_call_it(void) {
    typedef new_handler (*set_handler_function)(new_handler);
    typedef int (*set_mode_function)(int);
    const set_handler_function set = (set_handler_function)by_name("?_set_new_handler@@YAP6AH_K@ZP6AH0@Z@Z");
    const set_mode_function set_mode = (set_mode_function)by_name("?_set_new_mode@@YAHH@Z");
    CHECK(set != NULL && set_mode != NULL);
    set(&give_up_at_the_third_call);
    CHECK(malloc((size_t)PTRDIFF_MAX - 100) == NULL);
    CHECK(handler_calls == 0);
    set_mode(1);
    CHECK(malloc((size_t)PTRDIFF_MAX - 100) == NULL);
    CHECK(handler_calls == 3);
    set_mode(0);
}

static void blocks_of_the_runtime_are_freed_and_resized_by_it(void) {
    char* path = _fullpath(NULL, "somewhere", 0);
    CHECK(path != NULL && owned(path) == 0);
    CHECK(_msize(path) > strlen(path));
    path = realloc(path, 5000);
    CHECK(path != NULL && strstr(path, "somewhere") != NULL);
    free(path);
    path = _getcwd(NULL, 0);
    CHECK(path != NULL && owned(path) == 0);
    free(path);
    path = _strdup("a text that is copied");
    CHECK_SERVED(path);
    CHECK(strcmp(path, "a text that is copied") == 0);
    free(path);
    {
        wchar_t* const wide = _wcsdup(L"a wide text");
        CHECK_SERVED(wide);
        CHECK(wcscmp(wide, L"a wide text") == 0);
        free(wide);
    }
}

/* The addresses of the runtime's own functions, as a module has them that asked before the drop-in was there: they are
 * read from the export table. */
static void* own_function(const char* file, const char* name) {
    const unsigned char* const module = (const unsigned char*)GetModuleHandleA(file);
    const IMAGE_NT_HEADERS64* const headers =
        (const IMAGE_NT_HEADERS64*)(module + ((const IMAGE_DOS_HEADER*)module)->e_lfanew);
    const DWORD at = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress;
    const IMAGE_EXPORT_DIRECTORY* const exports = (const IMAGE_EXPORT_DIRECTORY*)(module + at);
    const DWORD* const names = (const DWORD*)(module + exports->AddressOfNames);
    const WORD* const numbers = (const WORD*)(module + exports->AddressOfNameOrdinals);
    const DWORD* const functions = (const DWORD*)(module + exports->AddressOfFunctions);
    DWORD each;
    for (each = 0; each < exports->NumberOfNames; ++each) {
        if (strcmp((const char*)module + names[each], name) == 0)
            return (void*)(uintptr_t)(module + functions[numbers[each]]);
    }
    return NULL;
}

typedef void* (*allocate_function)(size_t);
typedef void (*free_function)(void*);
typedef void* (*resize_function)(void*, size_t);
typedef size_t (*size_function)(void*);

static void a_block_that_reaches_the_runtimes_own_functions_is_handled(const char* runtime) {
    const free_function own_free = (free_function)own_function(runtime, "free");
    const free_function own_aligned_free = (free_function)own_function(runtime, "_aligned_free");
    const resize_function own_realloc = (resize_function)own_function(runtime, "realloc");
    const size_function own_msize = (size_function)own_function(runtime, "_msize");
    size_t turn;
    CHECK(own_free != NULL && own_aligned_free != NULL && own_realloc != NULL && own_msize != NULL);
    CHECK(served == 0 || own_free != &free);
    for (turn = 0; turn < 1000; ++turn) {
        void* block = filled(malloc(100 + turn), 5, 100 + turn);
        CHECK_SERVED(block);
        CHECK(own_msize(block) >= 100 + turn);
        block = own_realloc(block, 10000);
        CHECK(is_filled(block, 5, 100 + turn));
        SetLastError(0);
        own_free(block);
        CHECK(GetLastError() == 0); /* the system's heap refuses what it does not know */
        own_aligned_free(filled(_aligned_malloc(100 + turn, 64), 6, 100 + turn));
        CHECK(GetLastError() == 0);
    }
    own_free(filled(malloc(50000000), 7, 50000000));
}

/* A block that the runtime's own function has allocated, as before the drop-in was loaded. */
static void a_block_from_before_is_freed_and_resized(const char* runtime) {
    const allocate_function own_malloc = (allocate_function)own_function(runtime, "malloc");
    void* block = filled(own_malloc(100), 8, 100);
    CHECK(owned(block) == 0);
    CHECK(_msize(block) == 100);
    block = realloc(block, 100000);
    CHECK(is_filled(block, 8, 100));
    free(block);
    free(own_malloc(1));
}

/* What a plug-in of another compiler, or a language's runtime, does. */
static void functions_that_are_asked_for_by_name_are_served(void) {
    const HMODULE runtime = GetModuleHandleA(TEST_RUNTIME);
    const allocate_function allocate = (allocate_function)by_name("malloc");
    const free_function release = (free_function)by_name("free");
    void* const block = allocate(100);
    CHECK_SERVED(block);
    release(block);
    CHECK(GetProcAddress(runtime, "strlen") != NULL);
    CHECK(GetProcAddress(runtime, "no_such_function") == NULL);
    CHECK(GetLastError() == ERROR_PROC_NOT_FOUND);
}

static void* plugin_function(HMODULE plugin, const char* name) {
    void* const found = (void*)(uintptr_t)GetProcAddress(plugin, name);
    CHECK(found != NULL);
    return found;
}

static void a_library_that_is_loaded_late_is_served(void) {
    int turn;
    for (turn = 0; turn < 3; ++turn) {
        const HMODULE plugin = LoadLibraryA(plugin_file);
        CHECK(plugin != NULL);
        {
            const allocate_function allocate = (allocate_function)plugin_function(plugin, "plugin_allocate");
            const free_function release = (free_function)plugin_function(plugin, "plugin_free");
            const resize_function resize = (resize_function)plugin_function(plugin, "plugin_resize");
            typedef void* (*allocate_aligned)(size_t, size_t);
            const allocate_aligned aligned = (allocate_aligned)plugin_function(plugin, "plugin_allocate_aligned");
            typedef void* (*block_function)(void);
            void* const of_start = ((block_function)plugin_function(plugin, "plugin_block_of_start"))();
            void* block = filled(allocate(1000), 9, 1000);
            CHECK_SERVED(of_start);
            free(of_start);
            CHECK_SERVED(block);
            block = realloc(block, 2000);
            CHECK(is_filled(block, 9, 1000));
            block = resize(block, 200);
            free(block);
            block = malloc(1000);
            release(block);
            _aligned_free(filled(aligned(100, 256), 9, 100));
            block = allocate(77);
            CHECK(FreeLibrary(plugin));
            filled(block, 9, 77);
            free(block); /* the library is gone, its block is not */
        }
    }
}

/* With TENURE_HEAP_LIMIT=8M. Not part of `all`. */
static void a_limit_refuses_requests(void) {
    enum { max_blocks = 16, block_bytes = 1 << 20 };
    void* blocks[max_blocks];
    int count = 0;
    errno = 0;
    while (count < max_blocks && (blocks[count] = malloc(block_bytes)) != NULL) ++count;
    CHECK(count < 8);
    CHECK(errno == ENOMEM);
    while (count-- != 0) free(blocks[count]);
    free(filled(malloc(block_bytes), 1, block_bytes));
}

enum { thread_count = 4, blocks_per_thread = 2000 };
static void* volatile shared[thread_count][blocks_per_thread];

static DWORD WINAPI allocate_in_thread(void* argument) {
    void* volatile* const mine = argument;
    int each;
    for (each = 0; each < blocks_per_thread; ++each) mine[each] = filled(malloc(1 + each % 600), each, 1 + each % 600);
    return 0;
}
static DWORD WINAPI free_in_thread(void* argument) {
    void* volatile* const others = argument;
    int each;
    for (each = 0; each < blocks_per_thread; ++each) {
        CHECK_SERVED(others[each]);
        CHECK(is_filled(others[each], each, 1 + each % 600));
        free(others[each]);
    }
    return 0;
}

static void run_threads(LPTHREAD_START_ROUTINE function, int shift) {
    HANDLE threads[thread_count];
    int each;
    for (each = 0; each < thread_count; ++each) {
        threads[each] = CreateThread(NULL, 0, function, (void*)shared[(each + shift) % thread_count], 0, NULL);
        CHECK(threads[each] != NULL);
    }
    for (each = 0; each < thread_count; ++each) {
        DWORD code = 1;
        WaitForSingleObject(threads[each], INFINITE);
        GetExitCodeThread(threads[each], &code);
        CHECK(code == 0);
        CloseHandle(threads[each]);
    }
}

static void threads_free_the_blocks_of_others(void) {
    int turn;
    (void)owned(NULL);
    for (turn = 0; turn < 5; ++turn) {
        run_threads(&allocate_in_thread, 0);
        run_threads(&free_in_thread, 1);
    }
}

/* Libraries allocate under the loader's lock while other threads allocate under those of the heap, and free enough for
 * the heap's background thread to start. */
static volatile LONG is_loading = 1;
static DWORD WINAPI allocate_while_loading(void* argument) {
    (void)argument;
    while (is_loading) {
        void* blocks[64];
        size_t each;
        for (each = 0; each < 64; ++each) blocks[each] = filled(malloc(100000), 1, 100);
        for (each = 0; each < 64; ++each) free(blocks[each]);
        free(filled(malloc(40000000), 1, 100));
    }
    return 0;
}
static void libraries_are_loaded_while_threads_allocate(void) {
    HANDLE threads[thread_count];
    int each;
    for (each = 0; each < thread_count; ++each)
        threads[each] = CreateThread(NULL, 0, &allocate_while_loading, NULL, 0, NULL);
    for (each = 0; each < 100; ++each) {
        const HMODULE plugin = LoadLibraryA(plugin_file);
        void* of_start;
        CHECK(plugin != NULL);
        of_start = ((void* (*)(void))plugin_function(plugin, "plugin_block_of_start"))();
        CHECK_SERVED(of_start);
        free(of_start);
        CHECK(FreeLibrary(plugin));
    }
    is_loading = 0;
    for (each = 0; each < thread_count; ++each) {
        WaitForSingleObject(threads[each], INFINITE);
        CloseHandle(threads[each]);
    }
}

/* Threads are stopped in the middle of malloc, and the end of the process still allocates. */
static DWORD WINAPI allocate_for_ever(void* argument) {
    while (argument == NULL) {
        void* const small = malloc(40000);
        void* const large = malloc(3000000);
        free(small);
        free(large);
    }
    return 0;
}
static void the_process_ends_while_threads_allocate(void) {
    int each;
    for (each = 0; each < thread_count; ++each) CHECK(CreateThread(NULL, 0, &allocate_for_ever, NULL, 0, NULL) != NULL);
    Sleep(50);
    CHECK(LoadLibraryA(plugin_file) != NULL);
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {
        {"family", &the_family_is_served},
        {"aligned", &aligned_blocks_are_served},
        {"refusal", &a_refusal_is_null_and_sets_errno},
        {"new_handler", &the_new_handler_is_called_where_malloc_is_to_call_it},
        {"of_runtime", &blocks_of_the_runtime_are_freed_and_resized_by_it},
        {"by_name", &functions_that_are_asked_for_by_name_are_served},
        {"late", &a_library_that_is_loaded_late_is_served},
        {"threads", &threads_free_the_blocks_of_others},
        {"loading", &libraries_are_loaded_while_threads_allocate},
        {"end", &the_process_ends_while_threads_allocate},
    };
    const char* const wanted = argc > 1 ? argv[1] : "all";
    const int is_all = strcmp(wanted, "all") == 0;
    int ran = 0;
    size_t each;
    served = argc > 2 && strcmp(argv[2], "served") == 0;
    plugin_file = argc > 3 ? argv[3] : "windows_plugin.dll";
    CHECK((find_owns() != NULL) == served || !served);
    for (each = 0; each < sizeof cases / sizeof cases[0]; ++each) {
        if (!is_all && strcmp(wanted, cases[each].name) != 0) continue;
        cases[each].run();
        ++ran;
    }
    if (is_all || strcmp(wanted, "own_functions") == 0) {
        a_block_that_reaches_the_runtimes_own_functions_is_handled(TEST_RUNTIME);
        a_block_from_before_is_freed_and_resized(TEST_RUNTIME);
        ++ran;
    }
    if (strcmp(wanted, "limit") == 0) {
        a_limit_refuses_requests();
        ++ran;
    }
    CHECK(ran != 0);
    return 0;
}
