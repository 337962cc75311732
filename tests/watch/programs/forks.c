/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Forks again and again while its threads open a library with a C++ library of its own, call it, and close it, and
   while others begin and end. Each child does the same once; one that hangs is ended by its alarm. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int is_over;
static const char* plug_in;
static int (*run)(void);

static void* open_and_close(void* unused) {
    while (!is_over) {
        void* const library = dlopen(plug_in, RTLD_NOW | RTLD_LOCAL);
        int (*const own_run)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "run_plug_in");
        if (own_run == NULL || own_run() != 103) abort();
        dlclose(library);
    }
    return unused;
}

static void* allocate_once(void* unused) {
    void* volatile block = malloc(10);
    free(block);
    return unused;
}
static void* begin_threads(void* unused) {
    while (!is_over) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, allocate_once, NULL) == 0) pthread_join(thread, NULL);
    }
    return unused;
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const int forks = atoi(arguments[1]);
    plug_in = arguments[2];
    void* const library = dlopen(plug_in, RTLD_NOW | RTLD_LOCAL); /* stays, so that a child has it */
    run = library == NULL ? NULL : (int (*)(void))dlsym(library, "run_plug_in");
    if (run == NULL) return 1;
    pthread_t threads[3];
    for (int index = 0; index < 3; ++index) {
        if (pthread_create(&threads[index], NULL, index == 2 ? begin_threads : open_and_close, NULL) != 0) return 1;
    }
    int wrong = 0;
    for (int round = 0; round < forks && wrong < 3; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            const int is_right = run() == 103;
            pthread_t thread;
            if (pthread_create(&thread, NULL, allocate_once, NULL) == 0) pthread_join(thread, NULL);
            _exit(is_right ? 0 : 1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (status != 0) ++wrong;
    }
    is_over = 1;
    for (int index = 0; index < 3; ++index) pthread_join(threads[index], NULL);
    printf("%d wrong\n", wrong);
    return 0;
}
