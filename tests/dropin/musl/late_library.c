/* SPDX-FileCopyrightText: Tenure contributors
 * SPDX-License-Identifier: MIT */

/* Loads the library into the running program, as an interpreter loads its modules, and allocates in several threads:
 * some began before the library was there. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tenure/tenure.h>

typedef void* allocate_function(size_t, size_t, tn_lifetime);
typedef void reset_function(void);
typedef void* malloc_function(size_t);
typedef void free_function(void*);

static allocate_function* allocate;
static reset_function* reset_temp;
static malloc_function* get;
static free_function* release;
static atomic_int is_loaded;

static void* work(void* unused) {
    (void)unused;
    while (!atomic_load(&is_loaded)) {
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    for (int round = 0; round < 1000; ++round) {
        for (int each = 0; each < 100; ++each) {
            char* const temporary = allocate(64, 16, TN_TEMP);
            char* const block = get(64);
            if (temporary == NULL || block == NULL) return "out of memory";
            memset(temporary, each, 64);
            memset(block, each + 1, 64);
            if (temporary[63] != (char)each || block[63] != (char)(each + 1)) return "contents were lost";
            release(block);
        }
        reset_temp();
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t early, late;
    void *said = NULL, *also_said = NULL;
    if (argc != 2 || pthread_create(&early, NULL, work, NULL) != 0) return 2;
    void* const library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void**)&allocate = dlsym(library, "tn_allocate");
    *(void**)&reset_temp = dlsym(library, "tn_reset_temp");
    *(void**)&get = dlsym(library, "tn_malloc");
    *(void**)&release = dlsym(library, "tn_free");
    if (allocate == NULL || reset_temp == NULL || get == NULL || release == NULL) return 1;
    atomic_store(&is_loaded, 1);
    if (pthread_create(&late, NULL, work, NULL) != 0) return 2;
    pthread_join(early, &said);
    pthread_join(late, &also_said);
    if (said != NULL || also_said != NULL) {
        fprintf(stderr, "%s\n", (const char*)(said != NULL ? said : also_said));
        return 1;
    }
    return 0;
}
