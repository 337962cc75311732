/* SPDX-FileCopyrightText: Tenure contributors */
/* SPDX-License-Identifier: MIT */

/* Opens a library with functions to be watched, when it is late for that: another thread runs, or the system lets
   nobody write to code, or execute what was written. Then calls them, and prints what they return. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t begun, done;

static void* wait_for_the_end(void* unused) {
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&done);
    return unused;
}

/* mprotect() with these rights is refused from here on. */
static int refuse_rights(unsigned rights) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rights, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int call(void* library, const char* name) {
    int (*function)(void) = (int (*)(void))dlsym(library, name);
    return function == NULL ? -1 : function();
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const int has_thread = strcmp(arguments[1], "threads") == 0;
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    if (has_thread) {
        if (pthread_create(&thread, NULL, wait_for_the_end, NULL) != 0) return 1;
        pthread_barrier_wait(&begun);
    }
    if (strcmp(arguments[1], "no_writing") == 0 && !refuse_rights(PROT_READ | PROT_WRITE | PROT_EXEC)) return 77;
    if (strcmp(arguments[1], "no_executing") == 0 && !refuse_rights(PROT_READ | PROT_EXEC)) return 77;
    void* const library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 3;
    const int first = call(library, "begins_long"), second = call(library, "begins_short");
    printf("%d %d\n", first, second);
    if (has_thread) {
        pthread_barrier_wait(&done);
        pthread_join(thread, NULL);
    }
    return 0;
}
