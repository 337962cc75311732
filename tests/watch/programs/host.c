/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Opens a library, which lies where only this program's run path says, for itself alone, and calls it in a thread. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*run)(void);

static void* run_it(void* unused) {
    (void)unused;
    printf("%d\n", run());
    return NULL;
}

int main(int count, char** arguments) {
    void* const library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library != NULL) run = (int (*)(void))dlsym(library, "run_plug_in");
    if (run == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_it, NULL) != 0) return 1;
    pthread_join(thread, NULL);
    return 0;
}
